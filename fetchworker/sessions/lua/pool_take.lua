-- Lease a session of a jar, or say when to ask again.
--
-- EVALSHA <sha> 1 <head> <jar> <owner> <holder> <new> <lease> <prefer> <max total> <concurrency> <max uses> <max age>
--         <memory> <fresh> <waiting> <waits> [<skip>...]
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <owner>        whom it is for; who has one already gets it again, with a new token
-- <holder>       which process asks; empty: the session is for others to use
-- <new>          what a session that is made now is called
-- <lease>        until it comes back by itself, unless it is extended
-- <prefer>       oldest, best or lru
-- <max total>    sessions of the jar at most, without those that wait for their exits
-- <concurrency>  leases of the site at most; 0: any number
-- <max uses> <max age>   after which a session is dropped; 0: never
-- <memory>       how long it is known which session an owner had, once its lease is over
-- <fresh>        1: only a new one, 2: only one that is there already, 0: either
-- <waiting>      sessions of the jar that wait for their exits at most; the one whose wait is the longest goes
-- <waits>        for how long the owner has waited so far; -1: it takes no place in the line
-- <skip>         sessions that this worker cannot read, and others may: they are left alone, and take no place
--
-- Whoever has waited for longest is served first, whichever process it is of: nobody has a session, or a place among the
-- site's leases, as long as those before it may have it.
--
-- Returns {1, session, token, new (1; 2: the same process had it last; 0), dropped...}: leased; {0, wait, before, turn, dropped...}: none; the next comes
-- back after <wait> at the latest, <before> have waited for longer, and <turn> is another number than the last time when
-- somebody who waited has been served. Of those dropped '!' marks one of which nothing could be read, '?' what is no session.
local jar, owner, holder, new = unpack(ARGV, 1, 4)
local lease, prefer, most, concurrency = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local max_uses, max_age, memory, fresh = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12]
local waits = tonumber(ARGV[14])
local since = now - math.max(waits, 0)
local line, seen = line_of(jar)
local LOOKED_AT = 50  -- sessions at one time
local dropped, skip, skipped = {}, {}, #ARGV - 14
for at = 15, #ARGV do skip[ARGV[at]] = true end

local function give(id, is_new)
  local token = raised('fence', now)
  redis.call('ZREM', idle(jar), id)
  redis.call('ZADD', LEASES, now + lease, id)
  local kind = is_new
  if is_new == 0 and holder ~= '' and redis.call('HGET', of(id), 'last') == holder then kind = 2 end
  redis.call('HSET', of(id), 'token', token, 'owner', owner, 'holder', holder, 'last', holder, 'since', now, 'lease', lease)
  redis.call('SET', owned(owner), id, 'PX', math.ceil((lease + memory) / 1000))
  if redis.call('ZCARD', line) > 0 then
    leave(line, seen, owner)
    leave(LINE, SEEN, owner)
    redis.call('HSET', root, 'turn:' .. jar, token)
  end
  return {1, id, token, kind, unpack(dropped)}
end

-- `full`: it is the site's leases that are too many
local function refused(wait, before, full)
  if waits >= 0 then
    stand(line, seen, owner, since, now)
    if full then
      stand(LINE, SEEN, owner, since, now)
    else
      leave(LINE, SEEN, owner)
    end
  end
  local turn = redis.call('HGET', root, full and 'fence' or 'turn:' .. jar)
  return {0, wait, before, turn and tonumber(turn) or 0, unpack(dropped)}
end

local function next_idle()
  for _, id in ipairs(redis.call('ZRANGE', idle(jar), 0, skipped)) do
    if not skip[id] then return id end
  end
end

-- those to be skipped that would take a place
local function left_alone()
  local found = 0
  for id in pairs(skip) do
    if redis.call('ZSCORE', born_in(jar), id) and not redis.call('ZSCORE', away(jar), id) then found = found + 1 end
  end
  return found
end

-- so many could be given now
local function there()
  local found = fresh == '2' and 0 or math.max(0, most - total(jar) + left_alone())
  if fresh == '1' then return found end
  found = found + redis.call('ZCARD', idle(jar))
  for id in pairs(skip) do
    if redis.call('ZSCORE', idle(jar), id) then found = found - 1 end
  end
  return found
end

-- sessions that are in no set but that of all: one that can be read is idle, what cannot goes; some of them at a time
local function look_through()
  local from = tonumber(redis.call('HGET', root, 'looked:' .. jar) or 0) or 0
  local ids = redis.call('ZRANGE', born_in(jar), from, from + LOOKED_AT - 1)
  local kept, found = 0, 0
  for _, id in ipairs(ids) do
    local somewhere = redis.call('ZSCORE', LEASES, id)
    for _, key in ipairs({idle(jar), rest(jar), away(jar)}) do somewhere = somewhere or redis.call('ZSCORE', key, id) end
    local known = (not somewhere or jar_in(id) ~= jar) and facts(id) or {jar = jar}
    if known.jar ~= jar then
      discard(id, jar, dropped)
      found = found + 1
    else
      kept = kept + 1
      if not somewhere then
        free(id, known, prefer)
        found = found + 1
      end
    end
  end
  local to = #ids < LOOKED_AT and 0 or from + kept
  if to ~= from then redis.call('HSET', root, 'looked:' .. jar, to) end
  for _, id in ipairs(redis.call('ZRANGE', away(jar), 0, LOOKED_AT - 1)) do
    if not redis.call('ZSCORE', born_in(jar), id) then discard(id, jar, dropped) end
  end
  return found
end

local function find(had)
  if fresh ~= '1' then
    for attempt = 1, 32 do
      local id = next_idle()
      if attempt == 1 and had and not skip[had] and redis.call('ZSCORE', idle(jar), had) then id = had end
      if not id then break end
      local known = facts(id)
      if known.jar ~= jar then
        discard(id, jar, dropped)
      elseif (max_uses > 0 and known.uses >= max_uses) or (max_age > 0 and known.born + max_age <= now) then
        drop(id, jar)
        dropped[#dropped + 1] = id
      else
        redis.call('HINCRBY', of(id), 'uses', 1)
        return give(id, 0)
      end
    end
  end
  if fresh == '2' or total(jar) - left_alone() >= most then return nil end
  if redis.call('ZCARD', away(jar)) >= tonumber(ARGV[13]) then
    local last = redis.call('ZRANGE', away(jar), -1, -1)[1]
    drop(last, jar)
    dropped[#dropped + 1] = last
  end
  redis.call('SADD', root .. ':jars', jar)
  redis.call('ZADD', born_in(jar), now, new)
  redis.call('HSET', of(new), 'jar', jar, 'born', now, 'used', now, 'score', START, 'uses', fresh == '1' and 0 or 1)
  count('made')
  return give(new, 1)
end

local function act()
  reap(lease, prefer, dropped)
  local had = redis.call('GET', owned(owner))
  if had then
    local known = facts(had)
    if known.jar == jar and known.owner == owner and redis.call('ZSCORE', LEASES, had) then return give(had, 0) end
  end

  local first = redis.call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')
  local soonest = first[2] and tonumber(first[2]) or nil
  if concurrency > 0 then
    local before = ahead(LINE, SEEN, owner, since, now)
    if redis.call('ZCARD', LEASES) + before >= concurrency then
      return refused(soonest and soonest - now or lease, before, true)
    end
  end

  rouse(jar, prefer, dropped)
  recall(jar, prefer, most, dropped)
  local before = ahead(line, seen, owner, since, now)
  if before == 0 or before < there() then
    local given = find(had)
    if not given and look_through() > 0 then given = find(had) end
    if given then return given end
  end
  local due = redis.call('ZRANGE', rest(jar), 0, 0, 'WITHSCORES')[2]
  if due and (not soonest or tonumber(due) < soonest) then soonest = tonumber(due) end
  return refused(soonest and soonest - now or lease, before, false)
end

return mended(act, mend(jar, owner))

-- Lease a session of a jar, or say when to ask again.
--
-- EVALSHA <sha> 1 <head> <jar> <owner> <holder> <new> <lease> <prefer> <max total> <concurrency> <max uses> <max age>
--         <memory> <fresh> <waiting> [<skip>...]
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <owner>        whom it is for; who has one already gets it again, with a new token
-- <holder>       which process asks, for people to see
-- <new>          what a session that is made now is called
-- <lease>        until it comes back by itself, unless it is extended
-- <prefer>       oldest, best or lru
-- <max total>    sessions of the jar at most, without those that wait for their exits
-- <concurrency>  leases of the site at most; 0: any number
-- <max uses> <max age>   after which a session is dropped; 0: never
-- <memory>       how long it is known which session an owner had, once its lease is over
-- <fresh>        1: only a new one, 2: only one that is there already, 0: either
-- <waiting>      sessions of the jar that wait for their exits at most; the one whose wait is the longest goes
-- <skip>         sessions that this worker cannot read, and others may: they are left alone, and take no place
--
-- Returns {1, session, token, new (1 or 0), dropped...}: leased; {0, wait, dropped...}: ask again after so long.
-- Of those dropped '!' marks one of which nothing could be read.
local jar, owner, holder, new = unpack(ARGV, 1, 4)
local lease, prefer, most, concurrency = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local max_uses, max_age, memory, fresh = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12]
local dropped, skip = {}, {}
for at = 14, #ARGV do skip[ARGV[at]] = true end

local function give(id, is_new)
  local token = raised('fence', now)
  redis.call('ZREM', idle(jar), id)
  redis.call('ZADD', LEASES, now + lease, id)
  redis.call('HSET', of(id), 'token', token, 'owner', owner, 'holder', holder, 'since', now)
  redis.call('SET', owned(owner), id, 'PX', math.ceil((lease + memory) / 1000))
  return {1, id, token, is_new, unpack(dropped)}
end

reap(prefer, dropped)
local had = redis.call('GET', owned(owner))
if had then
  local known = facts(had)
  if known.jar == jar and known.owner == owner and redis.call('ZSCORE', LEASES, had) then return give(had, 0) end
end

local first = redis.call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')
local soonest = first[2] and tonumber(first[2]) or nil
if concurrency > 0 and redis.call('ZCARD', LEASES) >= concurrency then
  return {0, soonest - now, unpack(dropped)}
end

rouse(jar, prefer, dropped)
recall(jar, prefer, most, dropped)
local function next_idle()
  for _, id in ipairs(redis.call('ZRANGE', idle(jar), 0, #ARGV - 13)) do
    if not skip[id] then return id end
  end
end

local function left_alone()
  local found = 0
  for id in pairs(skip) do
    if redis.call('ZSCORE', born_in(jar), id) and not redis.call('ZSCORE', away(jar), id) then found = found + 1 end
  end
  return found
end

if fresh ~= '1' then
  for attempt = 1, 32 do
    local id = next_idle()
    if attempt == 1 and had and not skip[had] and redis.call('ZSCORE', idle(jar), had) then id = had end
    if not id then break end
    local known = facts(id)
    if not known.jar then
      discard(id, dropped)
    elseif (max_uses > 0 and known.uses >= max_uses) or (max_age > 0 and known.born + max_age <= now) then
      drop(id, jar)
      dropped[#dropped + 1] = id
    else
      redis.call('HINCRBY', of(id), 'uses', 1)
      return give(id, 0)
    end
  end
end

if fresh ~= '2' and total(jar) - left_alone() < most then
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

local due = redis.call('ZRANGE', rest(jar), 0, 0, 'WITHSCORES')[2]
if due and (not soonest or tonumber(due) < soonest) then soonest = tonumber(due) end
return {0, soonest and soonest - now or lease, unpack(dropped)}

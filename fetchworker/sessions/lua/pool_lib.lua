-- What the scripts of the pool share; put before each of them, after line_lib.lua. KEYS[1] is the pool's head, all other keys are named after it
-- and have its hash tag (fetchworker/sessions/poolkeys.py tells them all):
--
--   fw:pool:{<site>}               hash; fence (last token), counters of what was made, dropped, quarantined, lapsed;
--                                  turn:<jar>, the token of the last lease for which others of the jar waited;
--                                  looked:<jar>, how far its sessions were looked through for ones that are nowhere
--   fw:pool:{<site>}:jars          set of the jars that have or had sessions
--   fw:pool:{<site>}:leases        zset session -> until when its lease counts, of all jars
--   fw:pool:{<site>}:idle:<jar>    zset session -> order, the next one first
--   fw:pool:{<site>}:rest:<jar>    zset session -> when it may be used again (cooldown, quarantine)
--   fw:pool:{<site>}:away:<jar>    zset session -> when it may be used again; waits for its exit, counts for no limit
--   fw:pool:{<site>}:born:<jar>    zset session -> when it was made; all of the jar
--   fw:pool:{<site>}:s:<session>   hash of one session
--   fw:pool:{<site>}:o:<owner>     string; the session that an owner has, or had last
--   fw:pool:{<site>}:line:<jar>    zset owner -> since when it waits for a session of the jar (line_lib.lua)
--   fw:pool:{<site>}:seen:<jar>    zset owner -> until when it is waited for
--   fw:pool:{<site>}:line, :seen   the same of those who wait because there are as many leases of the site as may be
-- Times are microseconds; the clock is Redis's.
local root = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local LEASES = root .. ':leases'
local START = 1000  -- the score of a session of which nothing is known; 0 is the worst

local function of(id) return root .. ':s:' .. id end
local function idle(jar) return root .. ':idle:' .. jar end
local function rest(jar) return root .. ':rest:' .. jar end
local function away(jar) return root .. ':away:' .. jar end
local function born_in(jar) return root .. ':born:' .. jar end
local function owned(owner) return root .. ':o:' .. owner end
local function line_of(jar) return root .. ':line:' .. jar, root .. ':seen:' .. jar end
local LINE, SEEN = root .. ':line', root .. ':seen'

-- one more, which is the answer; a counter that is none begins again at `first`
local function raised(what, first)
  local found = redis.pcall('HINCRBY', root, what, 1)
  if type(found) == 'number' then return found end
  redis.call('HSET', root, what, first)
  return first
end
local function count(what) raised(what, 1) end

-- fetchworker/sessions/poolrules.py has the same rules
local function order(prefer, born, used, score)
  if prefer == 'oldest' then return (score < 500 and 4e15 or 0) + born end
  if prefer == 'best' then return math.floor((1000 - score) / 10) * 1e13 + math.floor(used / 1000) end
  return used
end

local function judged(score, good, bad)
  if bad > 0 then return math.floor(score * 0.6) end
  if good > 0 then return math.min(1000, score + math.ceil((1000 - score) * 0.2)) end
  return score
end

-- the jar that a session's name tells
local function jar_in(id) return string.match(id, '^pool%.([a-z0-9_]+)%.%x+$') end

local function whole(value, most)
  if not value then return true end
  return string.match(value, '^%d+$') and #value <= 16 and (not most or tonumber(value) <= most)
end

-- what is known of a session; without a jar where that is nothing, or cannot be read
local function facts(id)
  local found = redis.pcall('HMGET', of(id), 'jar', 'born', 'used', 'score', 'uses', 'token', 'owner', 'blocks', 'lease')
  if found.err or not found[1] or found[1] ~= jar_in(id) then return {} end
  for at, most in pairs({[2] = false, [3] = false, [4] = START, [5] = false, [8] = false, [9] = false}) do
    if not whole(found[at], most) then return {} end
  end
  return {
    jar = found[1], born = tonumber(found[2] or 0), used = tonumber(found[3] or 0), score = tonumber(found[4] or START),
    uses = tonumber(found[5] or 0), token = found[6], owner = found[7] or '', lease = tonumber(found[9] or 0),
  }
end

-- out of all sets of a jar; of how many it was
local function withdraw(id, jar)
  local found = 0
  for _, key in ipairs({idle(jar), rest(jar), away(jar), born_in(jar)}) do found = found + redis.call('ZREM', key, id) end
  return found
end

local function drop(id, jar)
  redis.call('ZREM', LEASES, id)
  withdraw(id, jar)
  redis.call('DEL', of(id))
  count('dropped')
end

-- one of which nothing can be read, found in a set of `jar` (nil: among the leases); one that is of another jar leaves this
local function discard(id, jar, dropped)
  local own = jar_in(id)
  if own and jar and own ~= jar then
    withdraw(id, jar)
  elseif own then
    drop(id, own)
    dropped[#dropped + 1] = '!' .. id
  else
    redis.call('ZREM', LEASES, id)
    if jar then withdraw(id, jar) end
    redis.call('DEL', of(id))
    dropped[#dropped + 1] = '?' .. id
  end
end

local function free(id, known, prefer)
  redis.call('ZREM', LEASES, id)
  redis.call('HDEL', of(id), 'owner', 'holder', 'token', 'lease')
  redis.call('ZADD', idle(known.jar), order(prefer, known.born, known.used, known.score), id)
end

-- what holders that are no more have held; a clock that was set back must not keep it for longer than its lease
local function reap(lease, prefer, dropped)
  local late = redis.call('ZRANGEBYSCORE', LEASES, string.format('(%.0f', now + lease), '+inf', 'WITHSCORES', 'LIMIT', 0, 64)
  for at = 1, #late, 2 do
    local known = facts(late[at])
    local most = now + (known.jar and known.lease > 0 and known.lease or lease)
    if tonumber(late[at + 1]) > most then redis.call('ZADD', LEASES, most, late[at]) end
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64)) do
    local known = facts(id)
    if known.jar then
      free(id, known, prefer)
      count('lapsed')
    else
      discard(id, nil, dropped)
    end
  end
end

-- those whose rest is over
local function rouse(jar, prefer, dropped)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', rest(jar), '-inf', now, 'LIMIT', 0, 64)) do
    local known = facts(id)
    redis.call('ZREM', rest(jar), id)
    if known.jar == jar then
      redis.call('ZADD', idle(jar), order(prefer, known.born, known.used, known.score), id)
    else
      discard(id, jar, dropped)
    end
  end
end

-- how many there are that count
local function total(jar) return redis.call('ZCARD', born_in(jar)) - redis.call('ZCARD', away(jar)) end

-- those whose exits may be used again, as far as there is room
local function recall(jar, prefer, most, dropped)
  local room = most - total(jar)
  if room <= 0 then return end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', away(jar), '-inf', now, 'LIMIT', 0, math.min(room, 64))) do
    local known = facts(id)
    redis.call('ZREM', away(jar), id)
    if known.jar == jar then
      redis.call('ZADD', idle(jar), order(prefer, known.born, known.used, known.score), id)
    else
      discard(id, jar, dropped)
    end
  end
end

-- whether this token is the one of a lease that counts
local function holds(id, known, token)
  return known.token == token and tonumber(redis.call('ZSCORE', LEASES, id) or 0) > now
end

-- deletes keys of another type, which nobody can read; sessions that are in no set then, or in no count, come back
local function mend(jar, owner)
  return function()
    local found = unfit({{root .. ':jars', 'set'}, {LEASES, 'zset'}, {LINE, 'zset'}, {SEEN, 'zset'}})
    if unfit({{root, 'hash'}}) > 0 then
      redis.call('HSET', root, 'fence', now)  -- above all that were
      found = found + 1
    end
    if owner then found = found + unfit({{owned(owner), 'string'}}) end
    if jar then
      local line, seen = line_of(jar)
      found = found + unfit({{idle(jar), 'zset'}, {rest(jar), 'zset'}, {away(jar), 'zset'}, {line, 'zset'}, {seen, 'zset'}})
      if unfit({{born_in(jar), 'zset'}}) > 0 then
        found = found + 1
        for _, key in ipairs({idle(jar), rest(jar), away(jar), LEASES}) do
          for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do
            local known = facts(id)
            if known.jar == jar then redis.call('ZADD', born_in(jar), known.born, id) end
          end
        end
      end
    end
    if found > 0 then
      for _ = 1, found do count('damaged') end
    end
    return found
  end
end

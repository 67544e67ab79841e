-- What the scripts of the pool share; put before each of them. KEYS[1] is the pool's head, all other keys are named after it
-- and have its hash tag (fetchworker/sessions/poolkeys.py tells them all):
--
--   fw:pool:{<site>}               hash; fence (last token), counters of what was made, dropped, quarantined, lapsed
--   fw:pool:{<site>}:jars          set of the jars that have or had sessions
--   fw:pool:{<site>}:leases        zset session -> until when its lease counts, of all jars
--   fw:pool:{<site>}:idle:<jar>    zset session -> order, the next one first
--   fw:pool:{<site>}:rest:<jar>    zset session -> when it may be used again (cooldown, quarantine)
--   fw:pool:{<site>}:away:<jar>    zset session -> when it may be used again; waits for its exit, counts for no limit
--   fw:pool:{<site>}:born:<jar>    zset session -> when it was made; all of the jar
--   fw:pool:{<site>}:s:<session>   hash of one session
--   fw:pool:{<site>}:o:<owner>     string; the session that an owner has, or had last
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
  local found = redis.pcall('HMGET', of(id), 'jar', 'born', 'used', 'score', 'uses', 'token', 'owner', 'blocks')
  if found.err or found[1] ~= jar_in(id) then return {} end
  for at, most in pairs({[2] = false, [3] = false, [4] = START, [5] = false, [8] = false}) do
    if not whole(found[at], most) then return {} end
  end
  return {
    jar = found[1], born = tonumber(found[2] or 0), used = tonumber(found[3] or 0), score = tonumber(found[4] or START),
    uses = tonumber(found[5] or 0), token = found[6], owner = found[7] or '',
  }
end

local function drop(id, jar)
  redis.call('ZREM', LEASES, id)
  for _, key in ipairs({idle(jar), rest(jar), away(jar), born_in(jar)}) do redis.call('ZREM', key, id) end
  redis.call('DEL', of(id))
  count('dropped')
end

-- one of which nothing can be read
local function discard(id, dropped)
  local jar = jar_in(id)
  if not jar then return redis.call('ZREM', LEASES, id) end
  drop(id, jar)
  dropped[#dropped + 1] = '!' .. id
end

local function free(id, known, prefer)
  redis.call('ZREM', LEASES, id)
  redis.call('HDEL', of(id), 'owner', 'holder', 'token')
  redis.call('ZADD', idle(known.jar), order(prefer, known.born, known.used, known.score), id)
end

-- what holders that are no more have held
local function reap(prefer, dropped)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64)) do
    local known = facts(id)
    if known.jar then
      free(id, known, prefer)
      count('lapsed')
    else
      discard(id, dropped)
    end
  end
end

-- those whose rest is over
local function rouse(jar, prefer, dropped)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', rest(jar), '-inf', now, 'LIMIT', 0, 64)) do
    local known = facts(id)
    redis.call('ZREM', rest(jar), id)
    if known.jar then
      redis.call('ZADD', idle(jar), order(prefer, known.born, known.used, known.score), id)
    else
      discard(id, dropped)
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
    if known.jar then
      redis.call('ZADD', idle(jar), order(prefer, known.born, known.used, known.score), id)
    else
      discard(id, dropped)
    end
  end
end

-- whether this token is the one of a lease that counts
local function holds(id, known, token)
  return known.token == token and tonumber(redis.call('ZSCORE', LEASES, id) or 0) > now
end

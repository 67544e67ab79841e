-- Give a session back.
--
-- EVALSHA <sha> 1 <head> <session> <token> <good> <bad> <prefer> <cooldown> <max idle> <max uses> <max age>
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <token>        of the lease; one that is over, or was given to somebody else meanwhile, is refused
-- <good> <bad>   how many of its answers were such
-- <cooldown>     until it may be used again
-- <max idle>     idle and resting sessions of the jar at most; the least wanted goes
-- <max uses> <max age>   after which a session is dropped; 0: never
--
-- Returns {1, dropped...}; {0}: refused.
local id, token, good, bad, prefer = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local cooldown, max_idle, max_uses, max_age = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local function act()
  local known = facts(id)
  if not known.jar or not holds(id, known, token) then return {0} end

  known.score, known.used = judged(known.score, good, bad), now
  redis.call('HSET', of(id), 'score', known.score, 'used', now)
  redis.call('DEL', owned(known.owner))
  local dropped = {}
  local function gone(one)
    drop(one, known.jar)
    dropped[#dropped + 1] = one
  end

  if (max_uses > 0 and known.uses >= max_uses) or (max_age > 0 and known.born + max_age <= now) then
    gone(id)
    return {1, unpack(dropped)}
  end
  free(id, known, prefer)
  if redis.call('ZCARD', idle(known.jar)) + redis.call('ZCARD', rest(known.jar)) > max_idle then
    gone(redis.call('ZRANGE', idle(known.jar), -1, -1)[1])
  end
  if cooldown > 0 and redis.call('ZREM', idle(known.jar), id) == 1 then
    redis.call('ZADD', rest(known.jar), now + cooldown, id)
  end
  return {1, unpack(dropped)}
end

return mended(act, mend(jar_in(id)))

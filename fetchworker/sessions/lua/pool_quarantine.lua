-- Take a session out of use for a while, or for good.
--
-- EVALSHA <sha> 1 <head> <session> <token> <reason> <span> <blocks>
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <token>    of the lease, refused as by pool_put.lua; empty: whoever holds it (people, and sessions that cannot be read)
-- <reason>   for people
-- <span>     until it may be used again; 0: it is dropped
-- <blocks>   so many quarantines, and it is dropped; 0: any number
--
-- Returns 2: dropped, 1: resting, 0: refused, or there is none.
local id, token, reason, span, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local known = facts(id)
if not known.jar and token == '' and span == 0 then
  local jar = jar_in(id)
  if not jar or not redis.call('ZSCORE', born_in(jar), id) then return 0 end
  drop(id, jar)
  return 2
end
if not known.jar or (token ~= '' and not holds(id, known, token)) then return 0 end

redis.call('DEL', owned(known.owner))
local blocks = redis.call('HINCRBY', of(id), 'blocks', 1)
if span == 0 or (most > 0 and blocks >= most) then
  drop(id, known.jar)
  return 2
end
count('quarantined')
redis.call('ZREM', LEASES, id)
for _, key in ipairs({idle(known.jar), away(known.jar)}) do redis.call('ZREM', key, id) end
redis.call('HDEL', of(id), 'owner', 'holder', 'token')
redis.call('HSET', of(id), 'score', judged(known.score, 0, 1), 'used', now, 'reason', reason, 'at', now, 'until', now + span)
redis.call('ZADD', rest(known.jar), now + span, id)
return 1

-- Leave a session alone for a while that is not to blame: it waits for its exit, and another one may take its place.
--
-- EVALSHA <sha> 1 <head> <session> <token> <reason> <span>
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <token>    of the lease, refused as by pool_put.lua
-- <reason>   for people
-- <span>     until it may be used again, if there is room for it then
--
-- Returns 1: it waits, 0: refused.
local id, token, reason, span = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local function act()
  local known = facts(id)
  if not known.jar or not holds(id, known, token) then return 0 end

  redis.call('DEL', owned(known.owner))
  redis.call('ZREM', LEASES, id)
  redis.call('HDEL', of(id), 'owner', 'holder', 'token', 'lease')
  redis.call('HSET', of(id), 'reason', reason, 'at', now)
  redis.call('ZADD', away(known.jar), now + span, id)
  return 1
end

return mended(act, mend(jar_in(id)))

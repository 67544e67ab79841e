-- Take a session out of use for a while, or for good.
--
-- EVALSHA <sha> 1 <head> <session> <token> <reason> <span> <blocks> [<jar>...]
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <token>    of the lease, refused as by pool_put.lua; empty: whoever holds it (people, and sessions that cannot be read)
-- <reason>   for people
-- <span>     until it may be used again; 0: it is dropped
-- <blocks>   so many quarantines, and it is dropped; 0: any number
-- <jar>      all jars, where people drop something, whatever its name: it is in none of them then
--
-- Returns 2: dropped, 1: resting, 0: refused, or there is none.
local id, token, reason, span, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local function act()
  local known = facts(id)
  if token == '' and span == 0 and #ARGV > 5 then
    local found = redis.call('ZREM', LEASES, id)
    for at = 6, #ARGV do found = found + withdraw(id, ARGV[at]) end
    if found == 0 then return 0 end
    if known.jar then redis.call('DEL', owned(known.owner)) end
    redis.call('DEL', of(id))
    count('dropped')
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
  redis.call('HDEL', of(id), 'owner', 'holder', 'token', 'lease')
  redis.call('HSET', of(id), 'score', judged(known.score, 0, 1), 'used', now, 'reason', reason, 'at', now, 'until', now + span)
  redis.call('ZADD', rest(known.jar), now + span, id)
  return 1
end

return mended(act, mend(jar_in(id)))

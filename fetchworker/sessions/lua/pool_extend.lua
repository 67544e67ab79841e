-- Hold leases for longer.
--
-- EVALSHA <sha> 1 <head> <lease> {<session> <token>}...
--
-- KEYS[1]  fw:pool:{<site>}   and the keys after it, see pool_lib.lua
--
-- <lease>   from now on
--
-- Returns 1 or 0 for each: 0 where the lease is over or somebody else's.
local function act()
  local lease, answers = tonumber(ARGV[1]), {}
  for at = 2, #ARGV, 2 do
    local id, token = ARGV[at], ARGV[at + 1]
    local known = facts(id)
    local good = known.jar and holds(id, known, token)
    if good then
      redis.call('ZADD', LEASES, now + lease, id)
      redis.call('HSET', of(id), 'lease', lease)
      redis.call('PEXPIRE', owned(known.owner), math.ceil(lease / 1000) + 3600000)
    end
    answers[#answers + 1] = good and 1 or 0
  end
  return answers
end

return mended(act, mend(nil))

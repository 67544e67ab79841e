-- forget(id, seconds): take a namespace out of the registry if it is still abandoned. Stands alone, without lib.lua.
-- KEYS  1 the spider's registry (keys.py)
-- ARGV  1 id, 2 seconds after which one that nobody used is abandoned
-- Answer  1 if it was taken out
-- Touches  the registry

local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not last or tonumber(last) > redis.call('TIME')[1] - ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])

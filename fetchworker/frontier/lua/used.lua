-- used(id, seconds, most): a private namespace is in use; which others were not for long. Stands alone, without lib.lua.
-- KEYS  1 the spider's registry (keys.py)
-- ARGV  1 id ('' when it is not a private one), 2 seconds after which one that nobody used is abandoned, 3 how many of those to tell at most
-- Answer  ids of abandoned namespaces, the oldest first
-- Touches  the registry

local now = redis.call('TIME')[1]
if ARGV[1] ~= '' then redis.call('ZADD', KEYS[1], now, ARGV[1]) end
if tonumber(ARGV[3]) == 0 then return {} end
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2], 'LIMIT', 0, ARGV[3])

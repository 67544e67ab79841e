-- Put a new identity in the place of the expected one, or give back the one that somebody else has put there.
--
-- EVALSHA <sha> 1 <session> <ttl> <expected identity> {<field> <value>}...
--
-- KEYS[1]  fw:session:{<site>}:<id>   hash, see fetchworker/sessions/keys.py; replaced as a whole
--
-- <ttl>    seconds until the session is forgotten, counted from now
--
-- Returns {}: replaced (a missing session is created); else all fields and values of the stored session.
local key = KEYS[1]
local identity = redis.call('HGET', key, 'identity')
if identity and identity ~= ARGV[2] then
  return redis.call('HGETALL', key)
end
redis.call('DEL', key)
for i = 3, #ARGV, 2 do
  redis.call('HSET', key, ARGV[i], ARGV[i + 1])
end
redis.call('EXPIRE', key, ARGV[1])
return {}

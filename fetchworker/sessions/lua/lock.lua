-- Lock a named session for one holder, hold it for longer, or give it back.
--
-- EVALSHA <sha> 2 <lock> <head> <do> <owner> <token> <lease>
--
-- KEYS[1]  fw:pool:{<site>}:lock:<session>   hash: owner, token; expires with the lease
-- KEYS[2]  fw:pool:{<site>}                  head; the field fence, from which tokens come
--
-- <do>      take: it is the owner's for <lease>, who has it already gets a new token; keep: for <lease> from now on;
--           free: it is nobody's
-- <token>   of the holder (keep, free): a lock that is over, or somebody else's, is refused
-- <lease>   milliseconds
--
-- Returns {1, token}: done; {0, milliseconds}: refused, and how long the lock of the other lasts.
local key, what, owner, token, lease = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local held = redis.call('HMGET', key, 'owner', 'token')
if what == 'take' then
  if held[1] and held[1] ~= owner then return {0, redis.call('PTTL', key)} end
  token = redis.pcall('HINCRBY', KEYS[2], 'fence', 1)
  if type(token) ~= 'number' then  -- it is no number: one that is above all that were
    local time = redis.call('TIME')
    token = time[1] * 1000000 + time[2]
    redis.call('HSET', KEYS[2], 'fence', token)
  end
  redis.call('HSET', key, 'owner', owner, 'token', token)
  redis.call('PEXPIRE', key, lease)
  return {1, token}
end
if held[2] ~= token then return {0, math.max(0, redis.call('PTTL', key))} end
if what == 'keep' then
  redis.call('PEXPIRE', key, lease)
else
  redis.call('DEL', key)
end
return {1, tonumber(token)}

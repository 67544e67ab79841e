-- No request may start for so long.
--
-- EVALSHA <sha> 1 <hash> <span>
--
-- KEYS[1]  {<site>:pace}:lane:<host>[:<exit>] or {<site>:pace}:host:<host>   hash, see fetchworker/pace/keys.py
--
-- <span>   microseconds from now; a longer pause that is there already stays
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local span = tonumber(ARGV[1])
if tonumber(redis.call('HGET', KEYS[1], 'pause') or 0) < now + span then
  redis.call('HSET', KEYS[1], 'pause', now + span)
end
local milliseconds = math.ceil(span / 1000) + 1000
if redis.call('PTTL', KEYS[1]) < milliseconds then redis.call('PEXPIRE', KEYS[1], milliseconds) end
return 1

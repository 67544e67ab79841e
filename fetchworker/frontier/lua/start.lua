-- start(owner, lease, step): who runs the namespace's start(), once.
-- ARGV  1 owner, 2 milliseconds of a lease, 3 'begin', 'done' or 'failed' (others may try)
-- Answer  {'done' | 'other' | 'mine', requests of start() that are queued already}
-- Touches  root:start workers

local owner, lease, step = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local start = root .. ':start'
local found = redis.call('HMGET', start, 'owner', 'done', 'count')
local count = tonumber(found[3] or 0)
if found[2] then return {'done', count} end
if step == 'failed' then
  if found[1] == owner then redis.call('HDEL', start, 'owner') end
  return {'other', count}
end
local alive = found[1] and redis.call('ZSCORE', workers, found[1])
if found[1] and found[1] ~= owner and alive and tonumber(alive) > at then return {'other', count} end
if step == 'done' then
  if found[1] ~= owner then return {'other', count} end
  redis.call('HSET', start, 'done', string.format('%.0f', at))
  return {'done', count}
end
redis.call('HSET', start, 'owner', owner)
redis.call('ZADD', workers, at + lease, owner)
return {'mine', count}

-- look(owner, lease, deliveries, holds): how things stand, for a worker with nothing to do; puts back what lapsed.
-- ARGV  1 owner, 2 milliseconds of a lease, 3 deliveries after which an entry is dead, 4 '1' if it holds something
-- Answer  msgpack of {queued, delayed, leased, seeds (-1: no key of seeds), start 0 none 1 running 2 done, next due,
--         workers, '1' if this worker was known}
-- Touches  root:counts waiting delayed workers calls dead committed start work:<owner> stage:<token>, the queue and its
--          lists, the seen-set, the seeds

local owner, lease, deliveries, holds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local known = redis.call('ZSCORE', workers, owner) and 1 or 0
local start = redis.call('HMGET', root .. ':start', 'owner', 'done')
if holds or start[1] == owner and not start[2] then
  redis.call('ZADD', workers, at + lease, owner)
elseif redis.call('HLEN', work(owner)) == 0 then
  redis.call('ZREM', workers, owner)
  redis.call('HDEL', calls, owner, owner .. ':loose')  -- all its calls are answered: it asks nothing else meanwhile
end
wake_delayed()
sweep(deliveries)
absorb(MANY)
keep_filter()

local queued, leased = 0, 0
for _, level in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  local length = redis.call('LLEN', queue .. ':' .. level)
  if length == 0 then
    redis.call('ZREM', queue, level)
    redis.call('ZREM', waiting, level)
  end
  queued = queued + length
end
for _, token in ipairs(redis.call('LRANGE', committed, 0, -1)) do
  queued = queued + math.max(1, redis.call('LLEN', stage(token)))
end
local all = redis.call('ZRANGE', workers, 0, -1)
for _, one in ipairs(all) do leased = leased + redis.call('HLEN', work(one)) end
local running = start[2] and 2 or (start[1] and 1 or 0)
if running == 1 and not redis.call('ZSCORE', workers, start[1]) then running = 0 end
local due = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
return cmsgpack.pack({queued, redis.call('ZCARD', delayed), leased, seed_count(), running,
  due and math.max(0, tonumber(due) - at) or -1, #all, known})

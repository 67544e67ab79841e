-- end(how, seconds, from, most): a namespace ends; its seen-set goes at once, the rest after a while (or now).
-- ARGV  1 'expire', 'purge' or 'abandon' (a purge of what nobody uses, in one call), 2 seconds until the rest goes,
--       3 first bucket, 4 how many buckets in this call
-- Answer  the next bucket, -1 when it is done; nothing is done to a namespace with workers unless it is purged: -2
-- Touches  every key of the namespace but the seeds

local how, seconds, from, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if how ~= 'purge' and redis.call('ZCOUNT', workers, at, '+inf') > 0 then return -2 end
local buckets = opened().level + filter.split
local last = how == 'abandon' and buckets or math.min(from + most, buckets)
for place = from, last - 1 do redis.call('UNLINK', seen .. ':' .. string.format('%.0f', place)) end
if last < buckets then return last end
redis.call('UNLINK', seen)
if how == 'expire' then
  for _, key in ipairs({counts, dead, root .. ':start'}) do redis.call('EXPIRE', key, seconds) end
  for _, key in ipairs({waiting, calls, workers}) do redis.call('UNLINK', key) end
  return -1
end
for _, level in ipairs(redis.call('ZRANGE', queue, 0, -1)) do redis.call('UNLINK', queue .. ':' .. level) end
for _, owner in ipairs(redis.call('ZRANGE', workers, 0, -1)) do
  for _, token in ipairs(redis.call('HKEYS', work(owner))) do redis.call('UNLINK', stage(token)) end
  redis.call('UNLINK', work(owner))
end
for _, token in ipairs(redis.call('LRANGE', committed, 0, -1)) do redis.call('UNLINK', stage(token)) end
for _, key in ipairs({queue, counts, waiting, delayed, workers, calls, dead, committed, suspects,
  root .. ':start'}) do
  redis.call('UNLINK', key)
end
return -1

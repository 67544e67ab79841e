-- report(head): how a namespace stands, in all that an operator asks for; changes nothing.
-- ARGV  1 bytes of each leased entry to tell
-- Answer  msgpack of {levels {priority, entries, last served}, delayed, due or -1, {kind of the seeds' key, seeds or -1},
--         {parts of pages under way, pages that are done, their parts},
--         workers {owner, lapse, leases {token, since, priority, bytes, head}}, dead, counts {name, value, …},
--         {start() 0 none 1 running 2 done, its requests}, seconds until the rest goes or -1, seen, now}; times in ms
-- Touches  root:counts waiting delayed workers dead committed start work:<owner> stage:<token>, the queue and its lists,
--          the seen-set, the seeds

local head, levels, all = tonumber(ARGV[1]), {}, {}
for i, level in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  levels[i] = {level, redis.call('LLEN', queue .. ':' .. level), redis.call('ZSCORE', waiting, level) or '-1'}
end

for _, held in ipairs(redis.call('LRANGE', suspects, 0, -1)) do
  local level, place = string.match(held, '^(-?%d+):'), nil
  for i = 1, #levels do place = levels[i][1] == level and i or place end
  if not place then
    place = #levels + 1
    levels[place] = {level, 0, '-1'}
  end
  levels[place][2] = levels[place][2] + 1
end

local parts = 0
local found = redis.call('ZRANGE', workers, 0, -1, 'WITHSCORES')
for i = 1, #found, 2 do
  local held, leases = redis.call('HGETALL', work(found[i])), {}
  for j = 1, #held, 2 do
    local level, entry, since = read(held[j + 1])
    if level then leases[#leases + 1] = {held[j], since, level, #entry, string.sub(entry, 1, head)} end
    parts = parts + redis.call('LLEN', stage(held[j]))
  end
  all[#all + 1] = {found[i], found[i + 1], leases}
end

local pages, absorbed = redis.call('LRANGE', committed, 0, -1), 0
for _, token in ipairs(pages) do absorbed = absorbed + redis.call('LLEN', stage(token)) end

local start = redis.call('HMGET', root .. ':start', 'owner', 'done', 'count')
local running = start[2] and 2 or (start[1] and redis.call('ZSCORE', workers, start[1]) and 1 or 0)
local due = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
return cmsgpack.pack({levels, redis.call('ZCARD', delayed), due or '-1', {redis.call('TYPE', seeds).ok, seed_count()},
  {parts, #pages, absorbed}, all, redis.call('HLEN', dead), redis.call('HGETALL', counts), {running, start[3] or '0'},
  redis.call('TTL', counts), redis.call('HGET', seen, 'count') or '0', at})

-- leave(how, deliveries, owner …): what workers hold goes back to the queue.
-- ARGV  1 'leave' (it goes: back to where it was) or 'gone' (it died: to the end), 2 deliveries after which an entry is
--       dead, 3 … owners
-- Answer  how many entries went back
-- Touches  root:counts waiting workers calls dead work:<owner> stage:<token>, the queue and its lists

local how, deliveries, back = ARGV[1], tonumber(ARGV[2]), 0

local function leave(owner)
  local held, order, batches = redis.call('HGETALL', work(owner)), {}, {}
  for i = 1, #held, 2 do order[#order + 1] = {tonumber(held[i]), held[i + 1]} end
  table.sort(order, function(one, other) return one[1] > other[1] end)
  for i = 1, #order do
    local level, entry = read(order[i][2])
    if level then put_back(batches, level, entry, deliveries) end
    redis.call('DEL', stage(string.format('%.0f', order[i][1])))
  end
  append_all(batches, 'LPUSH')
  redis.call('DEL', work(owner))
  redis.call('ZREM', workers, owner)
  redis.call('HDEL', calls, owner, owner .. ':loose')
  return #order
end

for i = 3, #ARGV do
  if how == 'leave' then
    back = back + leave(ARGV[i])
  else
    back = back + take_from(ARGV[i], 1e9, deliveries)
    redis.call('HDEL', calls, ARGV[i] .. ':loose')
  end
end
return back

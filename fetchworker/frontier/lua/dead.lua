-- dead(what, id …): dead entries again into the queue, or away.
-- ARGV  1 'retry' or 'drop', 2 … their ids
-- Answer  how many there were; a record that cannot be read can be dropped, not tried again
-- Touches  root:dead counts waiting, the queue and its lists

local batches, found = {}, 0
for i = 2, #ARGV do
  local record = redis.call('HGET', dead, ARGV[i])
  local good, entry = false, nil
  if record then good, entry = pcall(cmsgpack.unpack, record) end
  good = good and type(entry) == 'table' and type(entry[4]) == 'string'
  if record and ARGV[1] == 'drop' then
    found = found + redis.call('HDEL', dead, ARGV[i])
  elseif good then
    found = found + redis.call('HDEL', dead, ARGV[i])
    into(batches, entry[3], string.sub(entry[4], 1, 1) .. '\0\0' .. string.sub(entry[4], 4))
  end
end
append_all(batches, 'RPUSH')
if ARGV[1] == 'retry' and found > 0 then  -- an ended namespace goes on
  for _, key in ipairs({counts, dead, root .. ':start'}) do redis.call('PERSIST', key) end
end
return found

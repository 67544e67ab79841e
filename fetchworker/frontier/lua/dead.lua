-- dead(what, id …): dead entries again into the queue, or away.
-- ARGV  1 'retry' or 'drop', 2 … their ids
-- Answer  how many there were
-- Touches  root:dead counts waiting, the queue and its lists

local batches, found = {}, 0
for i = 2, #ARGV do
  local record = redis.call('HGET', dead, ARGV[i])
  if record then
    found = found + redis.call('HDEL', dead, ARGV[i])
    local entry = cmsgpack.unpack(record)
    if ARGV[1] == 'retry' then
      into(batches, entry[3], string.sub(entry[4], 1, 1) .. '\0\0' .. string.sub(entry[4], 4))
    end
  end
end
append_all(batches, 'RPUSH')
return found

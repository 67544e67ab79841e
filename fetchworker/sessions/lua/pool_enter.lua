-- A worker says by which numbers it uses the pool; refused while another worker lives that uses others. line_lib.lua is put
-- before it.
--
-- EVALSHA <sha> 1 <head> <worker> <terms> <span>
--
-- KEYS[1]  fw:pool:{<site>}           head; the field terms
--          fw:pool:{<site>}:workers   zset worker -> until when it is heard of
--
-- <worker>  its name
-- <terms>   the numbers as JSON
-- <span>    for how long this is known without being said again; 0: the worker leaves
-- Times are microseconds; the clock is Redis's.
--
-- Returns {} when all is well, else {terms, worker}: the numbers of others, and one of them.
local root = KEYS[1]
local workers, span = root .. ':workers', tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function act()
  redis.call('ZREM', workers, ARGV[1])
  if span == 0 then return {} end
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)
  -- a clock that was set back must not keep them for longer than that
  for _, late in ipairs(redis.call('ZRANGEBYSCORE', workers, string.format('(%.0f', now + span), '+inf')) do
    redis.call('ZADD', workers, now + span, late)
  end
  local terms = redis.call('HGET', root, 'terms')
  if terms and terms ~= ARGV[2] then
    local other = redis.call('ZRANGE', workers, 0, 0)[1]
    if other then return {terms, other} end
  end
  redis.call('HSET', root, 'terms', ARGV[2])
  redis.call('ZADD', workers, now + span, ARGV[1])
  return {}
end

return mended(act, function()
  local found = unfit({{workers, 'zset'}})
  if unfit({{root, 'hash'}}) > 0 then
    redis.call('HSET', root, 'fence', now)  -- above all tokens that were
    found = found + 1
  end
  return found
end)

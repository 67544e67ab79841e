-- Ask for a turn: may this request start now, or when to ask again. Who has to wait has its start booked.
--
-- EVALSHA <sha> 6 <leases> <turns> <host> <lane> <booked> <starts>
--         <permit> <delay> <gap> <concurrency> <per minute> <lease> <poll> <grace>
--
-- KEYS, see fetchworker/pace/keys.py; all have the tag {<site>:pace} and expire when what they hold is over
--   [1] leases:<host>            zset permit -> until when it counts; entries that are over go, with their turns
--   [2] turns:<host>             zset permit -> when it may start; the permit comes when it waits, and goes when it starts
--   [3] host:<host>              hash; ready and start are written where there is a gap
--   [4] lane:<host>[:<exit>]     hash; ready and start are written where there is a delay
--   [5] booked:<host>[:<exit>]   zset permit -> booked start; likewise
--   [6] starts:<host>[:<exit>]   zset permit -> start; written where there is a ceiling
--
-- <delay> <gap>    from this start to the next one of the lane, of the host
-- <concurrency>    permits of the host under way at most
-- <per minute>     starts of the lane within a minute at most; 0: any number
-- <lease>          from the start until the permit comes back by itself
-- <poll>           when to ask again for a place
-- <grace>          how much later than told a waiting permit may ask again before it loses its turn
-- Times are microseconds; the clock is Redis's.
--
-- Returns {wait, at, full}: wait 0: start now, at is the start; else ask again after so long, at is the booked start, and
-- full is 1 where it is only a place that is missing.
local leases, turns, host, lane, booked, starts = unpack(KEYS)
local permit = ARGV[1]
local delay, gap, concurrency, ceiling = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local lease, poll, grace = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local MINUTE = 60000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function keep(key, span)
  local milliseconds = math.ceil(span / 1000) + 1000
  if redis.call('PTTL', key) < milliseconds then redis.call('PEXPIRE', key, milliseconds) end
end

local function times(key)
  local found = redis.call('HMGET', key, 'ready', 'start', 'pause')
  return tonumber(found[1] or 0), tonumber(found[2] or 0), tonumber(found[3] or 0)
end

local function score(key, index)
  return tonumber(redis.call('ZRANGE', key, index, index, 'WITHSCORES')[2])
end

-- what dead workers held
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, gone)
  redis.call('ZREM', turns, gone)
end
for _, waiting in ipairs(redis.call('ZRANGE', booked, 0, -1)) do
  if not redis.call('ZSCORE', turns, waiting) then redis.call('ZREM', booked, waiting) end
end

local at = tonumber(redis.call('ZSCORE', booked, permit) or nil)
if not at and redis.call('ZREM', leases, permit) == 1 then
  -- it may start already, and the answer was lost: nothing was sent
  redis.call('ZREM', starts, permit)
end

local host_ready, host_start, host_pause = times(host)
local lane_ready, lane_start, lane_pause = times(lane)
local pause = math.max(host_pause, lane_pause)
local open = math.max(host_start, lane_start, pause)
local begun = 0
if ceiling > 0 then
  redis.call('ZREMRANGEBYSCORE', starts, '-inf', now - MINUTE)
  begun = redis.call('ZCARD', starts)
  if begun >= ceiling then open = math.max(open, score(starts, begun - ceiling) + MINUTE) end
end

local tail = math.max(open, host_ready, lane_ready)
if not at then
  at = math.max(now, tail)
  -- the start, booked or not, that lies a minute before this one
  local before = begun + redis.call('ZCARD', booked) - ceiling
  if ceiling > 0 and before >= 0 then
    local oldest = before < begun and score(starts, before) or score(booked, before - begun)
    at = math.max(at, oldest + MINUTE)
  end
  host_ready, lane_ready = at + gap, at + delay
elseif pause > at then
  -- paused since it was booked: behind those who know of it already
  at = tail
  host_ready, lane_ready = at + gap, at + delay
end

-- those that have waited longer come first, when it is their time at all
local due, wait, full = math.max(at, open), 0, 0
local longer = '(' .. string.format('%.0f', at)
if due > now then
  if due > at then due = due + redis.call('ZCOUNT', booked, '-inf', longer) * math.max(delay, gap) end
  wait = due - now
else
  local first = redis.call('ZCOUNT', turns, '-inf', longer)
  local under_way = redis.call('ZCARD', leases) - redis.call('ZCARD', turns)
  if under_way + first >= concurrency then due, wait, full = at, poll, 1 end
end

if wait == 0 then
  at = now
  redis.call('ZREM', turns, permit)
  redis.call('ZREM', booked, permit)
  redis.call('ZADD', leases, now + lease, permit)
  keep(leases, lease)
  host_start, lane_start = now + gap, now + delay
  if ceiling > 0 then
    redis.call('ZADD', starts, now, permit)
    keep(starts, MINUTE)
  end
else
  redis.call('ZADD', turns, due, permit)
  redis.call('ZADD', booked, at, permit)
  redis.call('ZADD', leases, now + wait + grace, permit)
  for _, key in ipairs({leases, turns, booked}) do keep(key, wait + grace) end
end
if delay > 0 then
  lane_ready = math.max(lane_ready, lane_start)
  redis.call('HSET', lane, 'ready', lane_ready, 'start', lane_start)
  keep(lane, lane_ready - now)
end
if gap > 0 then
  host_ready = math.max(host_ready, host_start)
  redis.call('HSET', host, 'ready', host_ready, 'start', host_start)
  keep(host, host_ready - now)
end
return {wait, at, full}

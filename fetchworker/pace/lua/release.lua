-- Give a place back, or a booking.
--
-- EVALSHA <sha> 6 <leases> <turns> <host> <lane> <booked> <starts> <permit> <delay> <gap> <unused>
--
-- KEYS, see fetchworker/pace/keys.py
--   [1] leases:<host>  [2] turns:<host>  [5] booked:<host>[:<exit>]   the permit goes
--   [3] host:<host>    [4] lane:<host>[:<exit>]                       ready and start go back where nobody came behind
--   [6] starts:<host>[:<exit>]                                        the permit goes where nothing was sent
--
-- <delay> <gap>   as in acquire.lua, microseconds
-- <unused>        nothing was sent: the start or booked start that acquire.lua has told; 0: it was sent
local leases, turns, host, lane, booked, starts = unpack(KEYS)
local permit, delay, gap, unused = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- a lease that is over is nobody's to undo
local held = redis.call('ZREM', leases, permit) == 1
redis.call('ZREM', turns, permit)
redis.call('ZREM', booked, permit)

local function back(key, span)
  for _, field in ipairs({'ready', 'start'}) do
    if tonumber(redis.call('HGET', key, field) or 0) == unused + span then redis.call('HSET', key, field, unused) end
  end
end

if held and unused > 0 then
  redis.call('ZREM', starts, permit)
  back(lane, delay)
  back(host, gap)
end
return held and 1 or 0

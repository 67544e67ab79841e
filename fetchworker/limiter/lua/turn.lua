-- All that one process has to say about permits: what is given back, what is in use still, who waits for one.
--
-- EVALSHA <sha> 4 <held> <line> <seen> <state>
--         <concurrency> <interval> <burst> <lease> <grace> <poll> <n> <m> <release>*n <renew>*m (<id> <ticket>)*
--
-- KEYS, see fetchworker/limiter/keys.py; all have the tag {fw:limit} and expire when what they hold is over
--   [1] {fw:limit}:held    zset id -> when its lease ends
--   [2] {fw:limit}:line    zset id -> ticket, of those who wait
--   [3] {fw:limit}:seen    zset id -> until when it is waited for
--   [4] {fw:limit}:state   hash: full, ticket
--
-- <concurrency>  permits out at once at most; 0: any number
-- <interval>     from one permit to the next in the long run; 0: none.  <burst>: so many at once after a rest
-- <lease>        until a permit comes back by itself.  <grace>: how long who waits may not ask again
-- <poll>         when to ask again where only a place is missing
-- <ticket>       place in the line; 0: at its end
-- Times are microseconds; the clock is Redis's.
--
-- Returns {wait, {place in <renew> of a lease that was over, ...}, {granted (0 or 1), ticket, ...}}
local held, line, seen, state = unpack(KEYS)
local concurrency, interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local lease, grace, poll = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local releases, renewals = tonumber(ARGV[7]), tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function text(number) return string.format('%.0f', number) end

for at = 9, 8 + releases do
  redis.call('ZREM', held, ARGV[at])
  redis.call('ZREM', line, ARGV[at])
  redis.call('ZREM', seen, ARGV[at])
end

-- what the dead held, and their places in the line
redis.call('ZREMRANGEBYSCORE', held, '-inf', text(now))
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', text(now))) do
  redis.call('ZREM', seen, gone)
  redis.call('ZREM', line, gone)
end
-- a clock that was set back must not keep them for longer than their lease
for key, most in pairs({[held] = now + lease, [seen] = now + grace}) do
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(most), '+inf')) do
    redis.call('ZADD', key, text(most), id)
  end
end

local lost = {}
for at = 9 + releases, 8 + releases + renewals do
  if redis.call('ZADD', held, text(now + lease), ARGV[at]) == 1 then lost[#lost + 1] = at - 9 - releases end
end

local known = redis.call('HMGET', state, 'full', 'ticket')
local last = tonumber(known[2] or 0)
local full = math.min(math.max(tonumber(known[1] or 0), now), now + interval * burst)
local free = concurrency > 0 and concurrency - redis.call('ZCARD', held) or math.huge

local answers, wait = {}, -1
for at = 9 + releases + renewals, #ARGV, 2 do
  local id, ticket = ARGV[at], tonumber(ARGV[at + 1])
  local granted = 0
  if redis.call('ZSCORE', held, id) then
    granted = 1 -- it was given already, and the answer got lost
  else
    if ticket == 0 then ticket = tonumber(redis.call('ZSCORE', line, id) or 0) end
    if ticket == 0 then
      ticket = math.max(last + 1, now) -- greater than all before, also when Redis has forgotten them
      last = ticket
    end
    redis.call('ZADD', line, text(ticket), id)
    local before = redis.call('ZRANK', line, id)
    local early = full + (before + 1) * interval - now - burst * interval
    if before < free and early <= 0 then
      granted, free, full = 1, free - 1, full + interval
      redis.call('ZREM', line, id)
      redis.call('ZREM', seen, id)
      redis.call('ZADD', held, text(now + lease), id)
    else
      redis.call('ZADD', seen, text(now + grace), id)
      local next_time = before < free and math.ceil(early) or math.max(poll, math.ceil(early))
      if wait < 0 or next_time < wait then wait = next_time end
    end
  end
  answers[#answers + 1] = granted
  answers[#answers + 1] = ticket
end

-- who is in the line is waited for: so it has to be heard of before that time is over
if wait > grace / 2 then wait = grace / 2 end
if last > 0 then
  redis.call('HSET', state, 'full', text(full), 'ticket', text(last))
  redis.call('PEXPIRE', state, math.ceil((full - now) / 1000) + 86400000)
end
redis.call('PEXPIRE', held, math.ceil(lease / 1000) + 1000)
redis.call('PEXPIRE', line, math.ceil(grace / 1000) + 1000)
redis.call('PEXPIRE', seen, math.ceil(grace / 1000) + 1000)
return {math.max(wait, 0), lost, answers}

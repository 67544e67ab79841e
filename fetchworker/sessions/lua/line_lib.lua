-- A fair line, whichever process those who wait are of; put before the scripts that have one. Of each line there are
--
--   <line>  zset who waits -> since when: whoever has waited for longest is first
--   <seen>  zset who waits -> until when it is waited for, should it not ask again; both expire soon after that
--
-- They are in the slot of the script's other keys. Times are microseconds; the clock is Redis's. Since when somebody waits
-- is told anew with each question, so that no clock that is set back changes the order.
-- fetchworker/sessions/line.py has the same rules.
local GRACE = 2000000  -- how long somebody in the line may not ask

local function leave(line, seen, who)
  redis.call('ZREM', line, who)
  redis.call('ZREM', seen, who)
end

-- how many others have waited for longer
local function ahead(line, seen, who, since, now)
  local waiting = redis.call('ZCARD', line)
  if waiting == 0 then return 0 end
  if waiting ~= redis.call('ZCARD', seen) then  -- one of them got lost: all that wait ask again
    redis.call('DEL', line, seen)
    return 0
  end
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now)) do leave(line, seen, gone) end
  for _, late in ipairs(redis.call('ZRANGEBYSCORE', seen, string.format('(%.0f', now + GRACE), '+inf')) do
    redis.call('ZADD', seen, now + GRACE, late)
  end
  redis.call('ZADD', line, 'XX', since, who)
  return redis.call('ZRANK', line, who) or redis.call('ZCOUNT', line, '-inf', since)
end

local function stand(line, seen, who, since, now)
  redis.call('ZADD', line, since, who)
  redis.call('ZADD', seen, now + GRACE, who)
  for _, key in ipairs({line, seen}) do redis.call('PEXPIRE', key, 2 * GRACE / 1000) end
end

-- what `act` returns; where a key of another type stops it, `mend` deletes such keys, and it is done again
local function mended(act, mend)
  local good, answer = pcall(act)
  if good then return answer end
  local why = type(answer) == 'table' and answer.err or tostring(answer)
  if not string.find(why, 'WRONGTYPE', 1, true) or mend() == 0 then error(answer, 0) end
  return act()
end

-- deletes those keys that are not of their type: {{key, type}...}; how many there were
local function unfit(pairs_)
  local found = 0
  for _, pair in ipairs(pairs_) do
    local kind = redis.call('TYPE', pair[1]).ok
    if kind ~= 'none' and kind ~= pair[2] then found = found + redis.call('DEL', pair[1]) end
  end
  return found
end

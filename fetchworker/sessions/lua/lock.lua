-- Lock a named session for one holder, hold it for longer, or give it back. line_lib.lua is put before it.
--
-- EVALSHA <sha> 4 <lock> <head> <line> <seen> <do> <owner> <token> <lease> <waits>
--
-- KEYS[1]  fw:pool:{<site>}:lock:<session>       hash: owner, token, lease (milliseconds); expires with the lease
-- KEYS[2]  fw:pool:{<site>}                      head; the field fence, from which tokens come
-- KEYS[3]  fw:pool:{<site>}:lockline:<session>   zset owner -> since when it waits (line_lib.lua)
-- KEYS[4]  fw:pool:{<site>}:lockseen:<session>   zset owner -> until when it is waited for
--
-- <do>      take: it is the owner's for <lease>, who has it already gets a new token; keep: for <lease> from now on;
--           free: it is nobody's; quit: the owner waits no longer
-- <token>   of the holder (keep, free): a lock that is over, or somebody else's, is refused
-- <lease>   milliseconds
-- <waits>   for how long the owner has waited so far, microseconds; -1: it takes no place in the line
--
-- Returns {1, token, 0, 0}: done; {0, milliseconds, before, token}: refused, how long the lock of the other lasts, how many
-- have waited for longer, and the token of the holder: another one than the last time, and the lock has changed hands.
local key, line, seen = KEYS[1], KEYS[3], KEYS[4]
local what, owner, token, lease, waits = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local since = now - math.max(waits, 0)

local function held() return redis.call('HMGET', key, 'owner', 'token', 'lease') end

-- how long the lock lasts yet; a clock that was set back must not keep it for longer than its lease
local function lasts(known)
  local left, most = math.max(0, redis.call('PTTL', key)), tonumber(known[3])
  if most and left > most then
    redis.call('PEXPIRE', key, most)
    return most
  end
  return left
end

local function refused(known, before)
  if waits >= 0 then stand(line, seen, owner, since, now) end
  return {0, lasts(known), before, tonumber(known[2] or 0) or 0}
end

local function take()
  local known, before = held(), ahead(line, seen, owner, since, now)
  if known[1] ~= owner and (known[1] or before > 0) then return refused(known, before) end
  token = redis.pcall('HINCRBY', KEYS[2], 'fence', 1)
  if type(token) ~= 'number' then  -- it is no number: one that is above all that were
    token = now
    redis.call('HSET', KEYS[2], 'fence', token)
  end
  redis.call('HSET', key, 'owner', owner, 'token', token, 'lease', lease)
  redis.call('PEXPIRE', key, lease)
  leave(line, seen, owner)
  return {1, token, 0, 0}
end

local function act()
  if what == 'take' then return take() end
  if what == 'quit' then
    leave(line, seen, owner)
    return {1, 0, 0, 0}
  end
  local known = held()
  if known[2] ~= token then return {0, lasts(known), 0, 0} end
  if what == 'keep' then
    redis.call('HSET', key, 'lease', lease)
    redis.call('PEXPIRE', key, lease)
  else
    redis.call('DEL', key)
  end
  return {1, tonumber(token), 0, 0}
end

return mended(act, function()
  local found = unfit({{key, 'hash'}, {line, 'zset'}, {seen, 'zset'}})
  if unfit({{KEYS[2], 'hash'}}) > 0 then
    redis.call('HSET', KEYS[2], 'fence', now)  -- above all that were
    found = found + 1
  end
  return found
end)

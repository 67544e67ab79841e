-- turn(owner, lease, call, turn): one worker's news to the queue, and further work for it, in one step.
-- ARGV  1 owner, 2 milliseconds of a lease, 3 number of this call (the same again: its answer was lost),
--       4 milliseconds after which a low priority gets a share, 5 deliveries after which an entry is dead,
--       6 requests wanted, 7 seeds wanted,
--       8 msgpack of {finished, moved, staged, started, loose}:
--           finished  {token, children, how many were staged} of requests that are done
--           moved     {token, 'b'} back, {token, 'd', milliseconds} again later, {token, 'x', reason} dead
--           staged    {token, place, children}: children of a page with many, from this place on
--           started   {} or {place, children}: requests of start() from this place on
--           loose     {} or {number, children}: requests that belong to no page
-- Answer  msgpack of {taken {token, priority, entry}, finished 1|0, moved 1|0, new children, started, next due or -1,
--         suspects that wait for a worker of their own}
-- Touches  root:counts waiting delayed workers calls dead committed start work:<owner> stage:<token>, the queue and its
--          lists, the seen-set and its buckets, the seeds

local owner, lease, call, aging, deliveries = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local want, seeds_want = tonumber(ARGV[6]), tonumber(ARGV[7])
local news = cmsgpack.unpack(ARGV[8])
local mine = work(owner)
local finished, moved, new = {}, {}, 0

for _, parted in ipairs(news[3]) do
  local parts = stage(parted[1])
  if redis.call('HEXISTS', mine, parted[1]) == 1 and redis.call('LLEN', parts) == parted[2] then
    for _, child in ipairs(parted[3]) do redis.call('RPUSH', parts, cmsgpack.pack(child)) end
  end
end

local again = {}
for i, done in ipairs(news[1]) do
  local token, parts = done[1], done[3]
  local held = parts > 0 and redis.call('HGET', mine, token)
  finished[i] = redis.call('HDEL', mine, token)
  if held and redis.call('LLEN', stage(token)) ~= parts then  -- Redis has lost some: it is done again
    finished[i] = 0
    local level, entry = read(held)
    if level then put_back(again, level, entry, deliveries) end
    redis.call('DEL', stage(token))
  elseif finished[i] == 1 then
    new = new + push(done[2])
    if parts > 0 then redis.call('RPUSH', committed, token) end
  elseif parts > 0 and not redis.call('LPOS', committed, token) then
    redis.call('DEL', stage(token))
  end
end

for i, move in ipairs(news[2]) do
  local token, kind = move[1], move[2]
  local held = redis.call('HGET', mine, token)
  moved[i] = redis.call('HDEL', mine, token)
  local level, entry = nil, nil
  if held then level, entry = read(held) end
  if level then
    redis.call('DEL', stage(token))
    if kind == 'b' then
      put_back(again, level, entry, deliveries)
    elseif kind == 'd' then
      redis.call('ZADD', delayed, at + move[3], token .. ':' .. level .. ':' .. bumped(entry, 2))
    else
      bury(token, level, bumped(entry, 2), move[3])
    end
  end
end
for level, entries in pairs(again) do
  local turned = {}
  for i = #entries, 1, -1 do turned[#turned + 1] = entries[i] end
  append(level, turned, 'LPUSH')
end

local started = -1
if #news[4] > 0 then
  local found = redis.call('HMGET', root .. ':start', 'owner', 'count')
  started = tonumber(found[2] or 0)
  if found[1] == owner and started == news[4][1] then
    new = new + push(news[4][2])
    started = redis.call('HINCRBY', root .. ':start', 'count', #news[4][2])
  end
end
if #news[5] > 0 and tonumber(redis.call('HGET', calls, owner .. ':loose') or -1) < news[5][1] then
  new = new + push(news[5][2])
  redis.call('HSET', calls, owner .. ':loose', news[5][1])
end

-- ── what is handed out ────────────────────────────────────────────────────────────────────────────────────────────
local taken, entries = {}, {}

local function take(level, most, own_turn)
  local got = redis.call('LPOP', queue .. ':' .. level, most) or {}
  for i = 1, #got do entries[#entries + 1] = {level, got[i]} end
  if #got < most then
    redis.call('ZREM', queue, level)
    redis.call('ZREM', waiting, level)
  elseif own_turn then
    redis.call('ZADD', waiting, at, level)
  end
  return #got
end

local function works_alone()
  if redis.call('HLEN', mine) ~= 1 then return false end
  local _, entry = read(redis.call('HVALS', mine)[1])
  return entry and is_suspect(entry, deliveries)
end

local function hand_out_alone()
  if want == 0 or redis.call('HLEN', mine) > 0 then return false end
  local held = redis.call('LPOP', suspects)
  if not held then return false end
  local level, entry = string.match(held, '^(-?%d+):(.*)$')
  entries[1] = {level, entry}
  return true
end

local function hand_out()
  local starved = redis.call('ZRANGEBYSCORE', waiting, '-inf', at - aging, 'LIMIT', 0, 1)[1]
  local left = want
  local before = tonumber(redis.call('HGET', counts, 'token') or 0)
  local share = math.floor((before + want) / 8) - math.floor(before / 8)  -- every eighth, however few are wanted
  if starved and share > 0 then left = left - take(starved, share, false) end
  while left > 0 do
    local best = redis.call('ZREVRANGE', queue, 0, 0)[1]
    if not best then break end
    left = left - take(best, left, true)
  end
end

local function hand_out_seeds()
  local kind, got = redis.call('TYPE', seeds).ok, {}
  if kind == 'list' then
    got = redis.call('LPOP', seeds, seeds_want) or {}
  elseif kind == 'set' then
    got = redis.call('SPOP', seeds, seeds_want)
  elseif kind == 'zset' then
    local pairs_ = redis.call('ZPOPMAX', seeds, seeds_want)
    for i = 1, #pairs_, 2 do got[#got + 1] = pairs_[i] end
  end
  for i = 1, #got do entries[#entries + 1] = {'0', 's\0\0' .. got[i]} end
end

local last, first, number = string.match(redis.call('HGET', calls, owner) or '', '^(%d+):(%d+):(%d+)$')
if last == call then
  for token = tonumber(first), tonumber(first) + tonumber(number) - 1 do
    local held = redis.call('HGET', mine, token)
    if held then
      local level, entry = read(held)
      taken[#taken + 1] = {tostring(token), level, entry}
    end
  end
elseif (want > 0 or seeds_want > 0) and not (last and tonumber(call) < tonumber(last)) then  -- nobody hears a late one
  if redis.call('HLEN', mine) > 0 then redis.call('ZADD', workers, at + lease, owner) end  -- not to be swept by itself
  wake_delayed(deliveries)
  sweep(deliveries)
  absorb(MANY)
  if not works_alone() and not hand_out_alone() then
    hand_out()
    if seeds_want > 0 then hand_out_seeds() end
  end
  local token = redis.call('HINCRBY', counts, 'token', #entries) - #entries
  for i = 1, #entries do
    local level, entry = entries[i][1], entries[i][2]
    token = token + 1
    local name = string.format('%.0f', token)
    redis.call('HSET', mine, name, string.format('%.0f', at) .. ':' .. level .. ':' .. entry)
    taken[i] = {name, level, entry}
  end
  redis.call('HSET', calls, owner, call .. ':' .. string.format('%.0f', token - #entries + 1) .. ':' .. #entries)
end

if new > 0 then redis.call('HINCRBY', counts, 'enqueued', new) end
if #finished > 0 then
  local done = 0
  for i = 1, #finished do done = done + finished[i] end
  if done > 0 then redis.call('HINCRBY', counts, 'done', done) end
end
keep_filter()
redis.call('ZADD', workers, at + lease, owner)
local due = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
return cmsgpack.pack({taken, finished, moved, new, started, due and math.max(0, tonumber(due) - at) or -1,
  redis.call('LLEN', suspects)})

-- Stands before each script of the frontier (fetchworker/frontier/store.py); commands of Redis 6.2 only.
-- KEYS  1 root of the namespace, 2 its queue, 3 its seen-set, 4 its seeds (all of one hash slot, see keys.py)
-- An entry is one byte of kind ('r' request, 's' seed), one of failures, one of deliveries, then the payload.

local root, queue, seen, seeds = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local counts, waiting, delayed = root .. ':counts', root .. ':waiting', root .. ':delayed'
local workers, calls, dead, committed = root .. ':workers', root .. ':calls', root .. ':dead', root .. ':committed'
local suspects = root .. ':suspects'
local MANY = 1000
-- members of a bucket on average: even one of double size stays below 512, where Redis gives up the compact form
local BUCKET = 200

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function work(owner) return root .. ':work:' .. owner end
local function stage(token) return root .. ':stage:' .. token end

-- ── the seen-set: buckets of integers that split one by one as it grows (linear hashing) ──────────────────────────
local filter = nil

local function opened()
  if not filter then
    local found = redis.call('HMGET', seen, 'level', 'split', 'count')
    filter = {level = 2 ^ tonumber(found[1] or 0), split = tonumber(found[2] or 0), count = tonumber(found[3] or 0)}
  end
  return filter
end

-- a 64-bit decimal modulo a power of two up to 2^26, in doubles
local function modulo(fingerprint, by)
  local digits = string.gsub(fingerprint, '^-', '')
  local high, low = tonumber(string.sub(digits, 1, -16)) or 0, tonumber(string.sub(digits, -15))
  return ((high % by) * (1e15 % by) + low % by) % by
end

local function bucket(fingerprint)
  local place = modulo(fingerprint, filter.level * 2)
  if place >= filter.level + filter.split then place = place - filter.level end
  return place
end

local function split()
  local from, to = filter.split, filter.split + filter.level
  local moved = {}
  for _, member in ipairs(redis.call('SMEMBERS', seen .. ':' .. from)) do
    if modulo(member, filter.level * 2) == to then moved[#moved + 1] = member end
  end
  for first = 1, #moved, MANY do
    local last = math.min(first + MANY - 1, #moved)
    redis.call('SREM', seen .. ':' .. from, unpack(moved, first, last))
    redis.call('SADD', seen .. ':' .. to, unpack(moved, first, last))
  end
  filter.split = filter.split + 1
  if filter.split == filter.level then filter.level, filter.split = filter.level * 2, 0 end
end

local function is_new(fingerprint)
  opened()
  if redis.call('SADD', seen .. ':' .. bucket(fingerprint), fingerprint) == 0 then return false end
  filter.count, filter.changed = filter.count + 1, true
  if filter.count > BUCKET * (filter.level + filter.split) then split() end
  return true
end

local function keep_filter()
  if filter and filter.changed then
    local level = math.floor(math.log(filter.level) / math.log(2) + .5)
    redis.call('HSET', seen, 'level', level, 'split', filter.split, 'count', string.format('%.0f', filter.count))
  end
end

-- ── the queue: a list for each priority, and an index of those that hold something ────────────────────────────────
local function append(level, entries, where)
  for first = 1, #entries, MANY do
    redis.call(where, queue .. ':' .. level, unpack(entries, first, math.min(first + MANY - 1, #entries)))
  end
  if redis.call('ZADD', queue, level, level) == 1 then redis.call('ZADD', waiting, at, level) end
end

local function append_all(batches, where)
  for level, entries in pairs(batches) do append(level, entries, where) end
end

local function into(batches, level, entry)
  local entries = batches[level]
  if entries then entries[#entries + 1] = entry else batches[level] = {entry} end
end

-- children are {priority, fingerprint or '', entry}; returns how many were new
local function push(children)
  local batches, new = {}, 0
  for i = 1, #children do
    local child = children[i]
    if child[2] == '' or is_new(child[2]) then
      into(batches, child[1], child[3])
      new = new + 1
    end
  end
  append_all(batches, 'RPUSH')
  return new
end

-- ── leases: a hash for each worker of token → '<since>:<priority>:<entry>' ────────────────────────────────────────
local function read(held)
  local since, level, entry = string.match(held, '^(%d+):(-?%d+):(.*)$')
  if not entry then return nil end
  return level, entry, since
end

local function bumped(entry, place, most)
  local value = math.min(string.byte(entry, place) + 1, most or 255)
  return string.sub(entry, 1, place - 1) .. string.char(value) .. string.sub(entry, place + 1), value
end

-- half-way to being dead, an entry is handed out alone: if it does bring workers down, no other is blamed with it
local function is_suspect(entry, deliveries) return string.byte(entry, 3) >= math.max(1, math.floor(deliveries / 2)) end

local function put_back(batches, level, entry, deliveries)
  if is_suspect(entry, deliveries) then
    redis.call('RPUSH', suspects, level .. ':' .. entry)
  else
    into(batches, level, entry)
  end
end

local function bury(token, level, entry, reason)
  redis.call('HSET', dead, token, cmsgpack.pack({reason, at, level, entry}))
  redis.call('HINCRBY', counts, 'dead', 1)
end

-- what a worker that is gone held goes to the end of the queue: it may be what brought it down
local function take_from(owner, most, deliveries)
  local held, order, batches, gone = redis.call('HGETALL', work(owner)), {}, {}, {}
  for i = 1, #held, 2 do order[#order + 1] = {tonumber(held[i]), held[i], held[i + 1]} end
  table.sort(order, function(one, other) return one[1] < other[1] end)
  for i = 1, math.min(#order, most) do
    local token, level, entry = order[i][2], read(order[i][3])
    gone[#gone + 1] = token
    if level then
      local again, times = bumped(entry, 3)
      if times >= deliveries then
        bury(token, level, again, 'DELIVERIES')
      else
        put_back(batches, level, again, deliveries)
      end
    end
    redis.call('DEL', stage(token))
  end
  append_all(batches, 'RPUSH')
  for first = 1, #gone, MANY do
    redis.call('HDEL', work(owner), unpack(gone, first, math.min(first + MANY - 1, #gone)))
  end
  if #gone > 0 then redis.call('HINCRBY', counts, 'redelivered', #gone) end
  if #held <= most * 2 then
    redis.call('ZREM', workers, owner)
    redis.call('HDEL', calls, owner)
  end
  return #gone
end

-- ── what falls due ────────────────────────────────────────────────────────────────────────────────────────────────
local function wake_delayed(deliveries)
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', at, 'LIMIT', 0, 200)
  if #due == 0 then return end
  local batches = {}
  for i = 1, #due do
    local level, entry = string.match(due[i], '^%d+:(-?%d+):(.*)$')
    if level then put_back(batches, level, entry, deliveries) end
  end
  redis.call('ZREM', delayed, unpack(due))
  append_all(batches, 'RPUSH')
end

local function sweep(deliveries)
  local lapsed = redis.call('ZRANGEBYSCORE', workers, '-inf', at, 'LIMIT', 0, 1)[1]
  return lapsed and take_from(lapsed, MANY, deliveries) or 0
end

-- children that came in parts join the queue in parts, once their page is done
local function absorb(most)
  local token = redis.call('LINDEX', committed, 0)
  if not token then return end
  local parts = redis.call('LPOP', stage(token), most) or {}
  for i = 1, #parts do parts[i] = cmsgpack.unpack(parts[i]) end
  local new = push(parts)
  if new > 0 then redis.call('HINCRBY', counts, 'enqueued', new) end
  if #parts < most then redis.call('LPOP', committed) end
end

local function seed_count()
  local kind = redis.call('TYPE', seeds).ok
  if kind == 'list' then return redis.call('LLEN', seeds) end
  if kind == 'set' then return redis.call('SCARD', seeds) end
  if kind == 'zset' then return redis.call('ZCARD', seeds) end
  return kind == 'none' and 0 or -1
end

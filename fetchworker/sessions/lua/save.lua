-- Save what changed in a session, unless somebody has rotated or deleted it meanwhile.
--
-- EVALSHA <sha> 1 <session> <format> <ttl> <known> <identity> <proxy> <profile> <created_at> <used_at> <uses> <blocks>
--         {<field> <stamp> <payload>}...
--
-- KEYS[1]  fw:session:{<site>}:<id>   hash, see fetchworker/sessions/keys.py; created unless <known> is 1
--
-- <ttl>              seconds until the session is forgotten, counted from now
-- <known>            1: a store has had this session, so that a missing key means: deleted or expired
-- <uses> <blocks>    what to add
-- <field>            c:... (cookie) or t:... (token); the entry is "<stamp> <payload>", the higher stamp stays,
--                    an empty payload is a deletion; "drop": remove the entry if it bears just this stamp
--
-- Returns 1: saved; 0: not saved, this identity, exit or profile is not the stored one (no exit may become one); -n: not saved, format n is newer than ours.
local key = KEYS[1]
local format, ttl, known, identity, proxy, profile = unpack(ARGV, 1, 6)
local created_at, used_at, uses, blocks = unpack(ARGV, 7, 10)

local stored = redis.call('HMGET', key, 'v', 'identity', 'proxy', 'profile', 'used_at')
if not stored[1] then
  if known == '1' then return 0 end
  redis.call('HSET', key, 'identity', identity, 'profile', profile, 'created_at', created_at)
else
  if tonumber(stored[1]) > tonumber(format) then return -tonumber(stored[1]) end
  if stored[2] ~= identity or stored[4] ~= profile then return 0 end
  if stored[3] ~= '' and stored[3] ~= proxy then return 0 end
  if tonumber(stored[5]) > tonumber(used_at) then used_at = stored[5] end
end
redis.call('HSET', key, 'v', format, 'proxy', proxy, 'used_at', used_at)
redis.call('HINCRBY', key, 'uses', uses)
redis.call('HINCRBY', key, 'blocks', blocks)

for i = 11, #ARGV, 3 do
  local field, stamp, payload = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local entry = redis.call('HGET', key, field)
  local at = entry and tonumber(string.match(entry, '^%d+')) or -1
  if payload == 'drop' then
    if at == tonumber(stamp) then redis.call('HDEL', key, field) end
  elseif tonumber(stamp) >= at then
    redis.call('HSET', key, field, stamp .. ' ' .. payload)
  end
end
redis.call('EXPIRE', key, ttl)
return 1

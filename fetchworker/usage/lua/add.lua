-- Adds a batch of a worker's bytes to a day, once however often it is sent, and tells what the day has spent.
--
-- KEYS[1] {<site>:usage}:<day>          hash: <provider>|<tier>|<operation>|<session>|<outcome>|<what> -> number
-- KEYS[2] {<site>:usage}:<day>:spent    hash: tier -> bytes, both ways together
-- KEYS[3] {<site>:usage}:batch:<worker> string: number of the last batch that was added
-- ARGV    number of the batch, seconds that a day is kept, fields that a day may have before further sessions are not
--         told apart, seconds that a batch's number is kept, what stands for further sessions;
--         then for each entry: head of the field, session, outcome, bytes up, bytes down, transfers, tier
-- Returns the flat hash KEYS[2]
local number, keep, most, remember, others = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
if number ~= '0' and redis.call('GET', KEYS[3]) ~= number then
    local fields = redis.call('HLEN', KEYS[1])
    for at = 6, #ARGV, 7 do
        local head, session, outcome = ARGV[at], ARGV[at + 1], ARGV[at + 2]
        local up, down, transfers, tier = ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]
        local field = head .. session .. '|' .. outcome
        if redis.call('HEXISTS', KEYS[1], field .. '|up') == 0 then
            if fields >= most and session ~= '-' then
                field = head .. others .. '|' .. outcome
            end
            fields = fields + 3
        end
        redis.call('HINCRBY', KEYS[1], field .. '|up', up)
        redis.call('HINCRBY', KEYS[1], field .. '|down', down)
        redis.call('HINCRBY', KEYS[1], field .. '|n', transfers)
        redis.call('HINCRBY', KEYS[2], tier, string.format('%.0f', up + down))
    end
    redis.call('EXPIRE', KEYS[1], keep)
    redis.call('EXPIRE', KEYS[2], keep)
    redis.call('SET', KEYS[3], number, 'EX', remember)
end
return redis.call('HGETALL', KEYS[2])

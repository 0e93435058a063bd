"""What a Redis server does in one step for a memory: writing, deleting, clearing.

Each script writes what it changed into the memory's stream, numbered, so that every process hears
of all changes in one order. Each may be sent twice: the second time it finds its work done.
"""

from __future__ import annotations

__all__ = ["DELETE", "REPLACE", "WRITE"]

# KEYS: values, versions, changes, number.  ARGV: name, payload, mode, expected, by, most, told
WRITE = """
local current = redis.call('HGET', KEYS[1], ARGV[1])
if current == ARGV[2] then
  return {1, tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '1'), false}
end
if ARGV[3] == 'absent' and current then return {0} end
if ARGV[3] == 'same' and current ~= ARGV[4] then return {0} end
local version = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[7] == '1' then
  local number = redis.call('INCR', KEYS[4])
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[6], '*', 'n', number, 'key', ARGV[1],
    'version', version, 'now', ARGV[2], 'before', current or '', 'by', ARGV[5])
end
return {1, version, current}
"""

# KEYS: values, versions, changes, number.  ARGV: by, most, told, name …
DELETE = """
local gone = {}
for i = 4, #ARGV do
  local current = redis.call('HGET', KEYS[1], ARGV[i])
  if current then
    local version = tonumber(redis.call('HGET', KEYS[2], ARGV[i]) or '1')
    redis.call('HDEL', KEYS[1], ARGV[i])
    redis.call('HDEL', KEYS[2], ARGV[i])
    table.insert(gone, ARGV[i])
    table.insert(gone, current)
    table.insert(gone, version)
    if ARGV[3] == '1' then
      local number = redis.call('INCR', KEYS[4])
      redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[2], '*', 'n', number, 'key', ARGV[i],
        'version', version, 'now', '', 'before', current, 'by', ARGV[1])
    end
  end
end
return gone
"""

# KEYS: list, dropped.  ARGV: most, "1" to begin anew, item …
REPLACE = """
if ARGV[2] == '1' then redis.call('DEL', KEYS[1], KEYS[2]) end
for i = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
local over = redis.call('LLEN', KEYS[1]) - tonumber(ARGV[1])
if over > 0 then
  redis.call('LTRIM', KEYS[1], over, -1)
  redis.call('INCRBY', KEYS[2], over)
end
return over
"""

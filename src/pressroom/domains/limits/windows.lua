-- windows.py in one call, for all processes at once. Held equal to it by a property test.
-- KEYS: attempts, posts, day ("minute:count"), total of the day, refusals; one hash tag, so a cluster serves.
-- ARGV: time (milliseconds; empty: Redis's own clock), is it a post (1), charge (1), per minute, per day,
--       (0: no limit), posts per minute, refusals that are abuse, abuse window (milliseconds)
-- Returns: time, attempts in the minute, when the oldest leaves, refused by, free at, abused, requests of the day,
--       its oldest minute (-1: none), when the day has room for more, posts in the minute, when the oldest leaves
--       (both 0: is no post)
local MINUTE, DAY = 60000, 86400000
local attempts, posts, day, total_key, refusals = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now = tonumber(ARGV[1])
local is_post, charge = ARGV[2] == '1', ARGV[3] == '1'
local per_minute, per_day, posts_per_minute = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local abuse_refusals, abuse_window = tonumber(ARGV[7]), tonumber(ARGV[8])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end

local newest = tonumber(redis.call('LINDEX', attempts, -1) or now)
if newest > now then now = newest end

-- By time, and to the latest `cap`: a lower limit needs no more, and a list holds more after it was lowered.
local function prune(key, cap)
  if redis.call('LLEN', key) > cap then redis.call('LTRIM', key, -cap, -1) end
  local oldest = tonumber(redis.call('LINDEX', key, 0) or now)
  while now - oldest >= MINUTE do
    redis.call('LPOP', key)
    oldest = tonumber(redis.call('LINDEX', key, 0) or now)
  end
end
local function bucket(text)
  local minute, count = string.match(text, '(%d+):(%d+)')
  return tonumber(minute), tonumber(count)
end
local function number(value) return string.format('%.0f', value) end
local function push(key, cap, life)
  redis.call('RPUSH', key, number(now))
  redis.call('LTRIM', key, -cap, -1)
  redis.call('PEXPIRE', key, life)
end

prune(attempts, per_minute)
prune(posts, posts_per_minute)
local total = tonumber(redis.call('GET', total_key) or 0)
local first = redis.call('LINDEX', day, 0)
while first do
  local minute, count = bucket(first)
  if (minute + 1) * MINUTE + DAY > now then break end
  redis.call('LPOP', day)
  total = total - count
  redis.call('SET', total_key, total, 'PX', DAY + 2 * MINUTE)
  first = redis.call('LINDEX', day, 0)
end

-- When enough buckets have left the day for one more request.
local function day_free_at()
  local left = total
  for _, text in ipairs(redis.call('LRANGE', day, 0, -1)) do
    local minute, count = bucket(text)
    left = left - count
    if left < per_day then return (minute + 1) * MINUTE + DAY end
  end
end
local function is_day_full() return per_day > 0 and total >= per_day end
local function verdict(refused_by, free_at, abused)
  local oldest = redis.call('LINDEX', attempts, 0)
  local first_minute = first and bucket(first) or -1
  local day_frees_at = now
  if is_day_full() then
    day_frees_at = day_free_at()
  elseif first then
    day_frees_at = (first_minute + 1) * MINUTE + DAY
  end
  local posts_used, posts_free_at = 0, 0
  if is_post then
    local oldest_post = redis.call('LINDEX', posts, 0)
    posts_used, posts_free_at = redis.call('LLEN', posts), oldest_post and oldest_post + MINUTE or now
  end
  return {
    number(now), redis.call('LLEN', attempts), number(oldest and oldest + MINUTE or now), refused_by, number(free_at),
    abused, total, first_minute, number(day_frees_at), posts_used, number(posts_free_at)
  }
end

if not charge then return verdict('', 0, 0) end

local refused_by = {}
if redis.call('LLEN', attempts) >= per_minute then table.insert(refused_by, 'minute') end
if is_post and redis.call('LLEN', posts) >= posts_per_minute then table.insert(refused_by, 'posts') end
if is_day_full() then table.insert(refused_by, 'day') end

push(attempts, per_minute, 2 * MINUTE)
if is_post then push(posts, posts_per_minute, 2 * MINUTE) end

if #refused_by == 0 and per_day == 0 then return verdict('', 0, 0) end
if #refused_by == 0 then
  local this_minute = math.floor(now / MINUTE)
  local last = redis.call('LINDEX', day, -1)
  local minute, count
  if last then minute, count = bucket(last) end
  if minute == this_minute then
    redis.call('LSET', day, -1, number(minute) .. ':' .. (count + 1))
  else
    redis.call('RPUSH', day, number(this_minute) .. ':1')
    first = first or number(this_minute) .. ':1'
  end
  total = total + 1
  redis.call('PEXPIRE', day, DAY + 2 * MINUTE)
  redis.call('SET', total_key, total, 'PX', DAY + 2 * MINUTE)
  return verdict('', 0, 0)
end

push(refusals, abuse_refusals, abuse_window)
local abused = 0
if redis.call('LLEN', refusals) >= abuse_refusals and now - redis.call('LINDEX', refusals, 0) < abuse_window then
  abused = 1
end
local free = { minute = now, posts = now, day = now }
if redis.call('LLEN', attempts) >= per_minute then free.minute = redis.call('LINDEX', attempts, 0) + MINUTE end
if is_post and redis.call('LLEN', posts) >= posts_per_minute then
  free.posts = redis.call('LINDEX', posts, 0) + MINUTE
end
if is_day_full() then free.day = day_free_at() end
local binding = refused_by[1]
for _, limit in ipairs(refused_by) do
  if free[limit] > free[binding] then binding = limit end
end
return verdict(binding, math.max(free.minute, free.posts, free.day), abused)

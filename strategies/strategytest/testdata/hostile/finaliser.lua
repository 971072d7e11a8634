-- Tries code that runs when the host collects garbage.
-- Want none
local bad = {__gc = function() while true do end end, __mode = "kv", __close = function() while true do end end}
function choose(turn)
  for i = 1, 100 do setmetatable({}, bad) end
  return "even"
end

-- Tries a recursion by way of __index.
-- Want budget at 3
local t = setmetatable({}, {__index = function(t, k) return t[k .. "x"] end})
function choose(turn)
  local v = t.x
  return "even"
end

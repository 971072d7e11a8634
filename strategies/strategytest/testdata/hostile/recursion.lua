-- Tries a recursion that never ends.
-- Want budget at 3
local function f() return 1 + f() end
function choose(turn)
  f()
  return "even"
end

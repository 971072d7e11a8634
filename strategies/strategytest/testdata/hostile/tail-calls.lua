-- Tries calls in tail position, which C Lua would not count.
-- Want budget at 3
local function f() return f() end
function choose(turn)
  f()
  return "even"
end

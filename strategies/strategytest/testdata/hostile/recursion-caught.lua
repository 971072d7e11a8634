-- Tries a recursion that goes on in pcall.
-- Want budget timeout at 3
local function f() pcall(f) f() end
function choose(turn)
  f()
  return "even"
end

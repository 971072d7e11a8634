-- Tries handlers that fail in handlers.
-- Want budget at 3-4
local function bad() return xpcall(bad, bad) end
local function worse() while true do xpcall(bad, bad) end end
function choose(turn)
  worse()
  return "even"
end

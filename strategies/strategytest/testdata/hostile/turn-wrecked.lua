-- Tries to wreck all that it is handed, for the calls to come.
-- Want none
local function loop() while true do end end
local function wreck(t)
  for k, v in pairs(t) do
    if type(v) == "table" then wreck(v) end
    t[k] = "even"
  end
  if not getmetatable(t) then setmetatable(t, {__newindex = loop, __index = loop, __len = loop, __metatable = "mine"}) end
end
function start(setup) wreck(setup) end
function observe(outcome) wreck(outcome) end
function choose(turn) wreck(turn) return "even" end

-- Tries recursions by way of __lt, __eq, __concat, __call and __unm.
-- Want budget at 3-9
local m, t = {}, {}
m.__lt = function(a, b) return a < b end
m.__concat = function(a, b) return a .. b end
m.__unm = function(a) return -a end
m.__call = function(a) return a() end
setmetatable(t, m)
local function all() pcall(function() return t < t end) pcall(function() return t .. t end) pcall(function() return -t end) end
function choose(turn)
  all()
  t()
  return "even"
end

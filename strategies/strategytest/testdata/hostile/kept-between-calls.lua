-- Tries to keep 40 MB more at every match.
-- Want crash with default limits
local kept = {}
function choose(turn)
  for i = 1, 40 do kept[#kept + 1] = ("x"):rep(1e6 + #kept) end
  return "even"
end

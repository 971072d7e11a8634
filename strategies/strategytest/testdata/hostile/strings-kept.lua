-- Tries to keep as many long strings as it can.
-- Want crash with default limits
function choose(turn)
  local t = {}
  for i = 1, 1e12 do t[i] = ("x"):rep(1000000 + i % 1000) end
  return "even"
end

-- Tries table.concat of long strings.
-- Want none
function choose(turn)
  local t = {}
  for i = 1, 200 do t[i] = ("x"):rep(1e4) end
  table.concat(t, ("y"):rep(1000))
  return "even"
end

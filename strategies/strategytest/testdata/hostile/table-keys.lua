-- Tries a table of ever new keys.
-- Want budget timeout at 5 with default limits
function choose(turn)
  local t = {}
  for i = 1, 1e12 do t["k" .. i] = {i} end
  return "even"
end

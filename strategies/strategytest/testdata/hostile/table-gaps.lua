-- Tries stores that just fit, into new tables for ever.
-- Want budget timeout at 5 with default limits
function choose(turn)
  local t = {}
  for i = 1, 1e9 do t[i] = {}; t[i][2^20] = 1 end
  return "even"
end

-- Tries a table that grows for ever.
-- Want budget timeout at 5 with default limits
function choose(turn)
  local t = {}
  for i = 1, 1e12 do t[i] = {} end
  return "even"
end

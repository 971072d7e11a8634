-- Tries an endless loop in choose.
-- Want budget at 4
function choose(turn)
  while true do end
  return "even"
end

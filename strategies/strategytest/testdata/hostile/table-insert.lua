-- Tries to move a long table again and again.
-- Want budget timeout at 5
function choose(turn)
  local t = {}
  for i = 1, 1e12 do table.insert(t, 1, i) end
  return "even"
end

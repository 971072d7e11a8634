-- Tries orders that contradict themselves, for ever.
-- Want budget at 6-7
function choose(turn)
  local t, n = {}, 0
  for i = 1, 1000 do t[i] = i end
  while true do table.sort(t, function(a, b) n = n + 1; t[n] = n
  return n % 3 == 0 end) end
  return "even"
end

-- Tries to behave for a while, and then a loop.
-- Want budget at 6
local n = 0
function choose(turn)
  n = n + 1
  while n > 5 do end
  return "even"
end

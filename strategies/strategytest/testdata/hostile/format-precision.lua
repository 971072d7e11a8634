-- Tries string.format that makes much of little.
-- Want budget at 4
function choose(turn)
  while true do pcall(string.format, ("%99d%99.99f"):rep(5000), 1, 1) end
  return "even"
end

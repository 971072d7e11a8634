-- Tries to fill the log.
-- Want budget at 4
function choose(turn)
  while true do print(("x"):rep(1e5)) end
  return "even"
end

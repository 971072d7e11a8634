-- Tries to fill the history that the host keeps in the script.
-- Want budget timeout at 4 with default limits
function choose(turn)
  for i = 1, 1e12 do turn.history[#turn.history + 1] = {} end
  return "even"
end

-- Drift: leans away from where an opponent has leaned lately.
-- It keeps one number per opponent, in which older meetings fade, and plays
-- the opposite of what the number says is coming. While the number says
-- little it stays with its own last choice, so that others can lean away too.
--
-- param: fade 0.0..1.0 = 0.6    what is left of the past after each match
-- param: clear 0.0..1.0 = 0.45  how far a lean must go to be believed

local FADE, CLEAR = params.fade, params.clear

local lean = {} -- opponent -> from -1, always odd, to 1, always even

function choose(turn)
  local last = turn.history[#turn.history]
  if last == nil or last.choice == nil then
    return 0.5
  end
  local l, answer = lean[turn.opponent] or 0, last.choice
  if l > CLEAR then answer = "odd" end
  if l < -CLEAR then answer = "even" end
  if last.choice == last.opponent_choice and answer ~= last.choice then
    -- Both of us may be about to change. Let a coin decide, or we go on alike.
    return answer == "even" and 0.7 or 0.3
  end
  return answer
end

function observe(outcome)
  local who, theirs = outcome.opponent, outcome.opponent_choice
  if who == nil or theirs == nil then
    return -- nothing was told, or it was a technical loss
  end
  local seen = theirs == "even" and 1 or -1
  lean[who] = FADE * (lean[who] or 0) + (1 - FADE) * seen
end

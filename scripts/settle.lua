-- Settle: agrees with each opponent, without a word, on who plays what.
-- It has a plan for each opponent: what to play as A, and what as B. A plan
-- that makes the two choices differ is kept for good. One that does not is
-- changed half of the time; only half, or two players of this kind would
-- change together for ever.

local plans = {} -- opponent -> role -> choice

local function plan_with(opponent)
  local plan = plans[opponent]
  if plan == nil then
    -- One choice for both roles at first: steady players are easy to agree with.
    local choice = math.random() < 0.5 and "even" or "odd"
    plan = { PLAYER_A = choice, PLAYER_B = choice }
    plans[opponent] = plan
  end
  return plan
end

function choose(turn)
  local opponent, role = turn.opponent, turn.role
  if opponent == nil or role == nil then
    return 0.5 -- some leagues do not tell
  end
  return plan_with(opponent)[role]
end

function observe(outcome)
  local opponent, role, mine = outcome.opponent, outcome.role, outcome.choice
  if opponent == nil or role == nil or mine == nil then
    return
  end
  if mine == outcome.opponent_choice and math.random() < 0.5 then
    plan_with(opponent)[role] = mine == "even" and "odd" or "even"
  end
end

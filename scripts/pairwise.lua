-- Pairwise: expects an opponent to do what it did in the same situation.
-- The situation is our role and what both chose when we last met. It counts
-- what followed with this opponent and, of little weight but useful in the
-- first legs, what followed with anybody.

local counts = {} -- situation -> evens minus odds that followed

local function situation(role, last)
  local met = "first time"
  if last and last.choice and last.opponent_choice then
    met = last.choice .. " against " .. last.opponent_choice
  end
  return (role or "no role") .. ", " .. met
end

local function count(key, step)
  counts[key] = (counts[key] or 0) + step
end

function choose(turn)
  local last = turn.history[#turn.history]
  local here = situation(turn.role, last)
  local own = turn.opponent and counts[turn.opponent .. ": " .. here] or 0
  local all = counts[here] or 0
  local sum = own + all / 30
  if sum == 0 then
    return last and last.choice or 0.5 -- steady players are easy to differ from
  end
  local answer = sum > 0 and "odd" or "even"
  if last and last.choice == last.opponent_choice and answer ~= last.choice then
    -- Both of us may be about to change. Let a coin decide, or we go on alike.
    return answer == "even" and 0.7 or 0.3
  end
  return answer
end

local previous = {} -- opponent -> the meeting before the one now reported

function observe(outcome)
  local who, theirs = outcome.opponent, outcome.opponent_choice
  if who == nil then return end
  if theirs then
    local here = situation(outcome.role, previous[who])
    local step = theirs == "even" and 1 or -1
    count(here, step)
    count(who .. ": " .. here, step)
  end
  previous[who] = outcome
end

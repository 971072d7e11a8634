-- Contrary: says the opposite of what the opponent says most after what happened last.
-- It counts what each opponent said after each choice of its own.

local counts = {} -- by opponent, then by the opponent's last choice

local function seen(opponent, last)
  counts[opponent] = counts[opponent] or {}
  local of = counts[opponent]
  of[last] = of[last] or { even = 0, odd = 0 }
  return of[last]
end

function choose(turn)
  local last = turn.history[#turn.history]
  local c = seen(turn.opponent or "?", last and last.opponent_choice or "nothing")
  if c.even == c.odd then return 0.5 end -- nothing to go by: a coin
  return c.even > c.odd and "odd" or "even"
end

local before = {} -- the opponent's last choice

function observe(outcome)
  local opponent, said = outcome.opponent or "?", outcome.opponent_choice
  if said == nil then return end -- it failed, or this league does not tell
  local c = seen(opponent, before[opponent] or "nothing")
  c[said] = c[said] + 1
  before[opponent] = said
end

-- NAME: plays against what each opponent has played most
-- Points are won when the two choices differ, so this counts what an opponent
-- has played so far and answers with the other parity. Change choose() to
-- make it yours; scripts/README.md lists all that a script can see.

-- How often each opponent has played even and odd, by player id.
local seen = {}

-- Called once, before the first match. Leave it out if you do not need it.
function start(setup)
  for _, id in ipairs(setup.players) do
    seen[id] = { even = 0, odd = 0 }
  end
end

-- Called for every match: return "even", "odd", or the probability of even.
function choose(turn)
  local counts = seen[turn.opponent] or { even = 0, odd = 0 }
  if counts.even == counts.odd then
    return 0.5 -- nothing to go by
  end
  return counts.even > counts.odd and "odd" or "even"
end

-- Called after every match. A choice is nil where the opponent made none.
function observe(outcome)
  local counts = seen[outcome.opponent]
  if counts and outcome.opponent_choice then
    counts[outcome.opponent_choice] = counts[outcome.opponent_choice] + 1
  end
end

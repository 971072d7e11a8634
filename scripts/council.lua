-- Council: asks a few simple minds what is coming, and believes the best.
-- Each adviser has one idea of how an opponent comes to its choice. With every
-- opponent it gains trust when it is right and loses it when it is wrong, and
-- what is long past fades. We play the opposite of what the most trusted one
-- expects.
--
-- param: fade 0.0..1.0 = 0.8   what is left of old trust after each match
-- param: doubt 0.5..1.0 = 0.7  how sure we are after a match with equal choices

local function opposite(choice)
  return choice == "even" and "odd" or "even"
end

-- Each looks at the last meeting with an opponent, and at the last one in which
-- we had the same role as now, if there is one, and says what it expects.
local advisers = {
  function(last) return opposite(last.choice) end,                 -- it avoids us
  function(last) return last.opponent_choice end,                  -- it stays
  function(_, same) return same and same.opponent_choice end,      -- it goes by role
  function(last) return opposite(last.opponent_choice) end,        -- it alternates
  function(last) return last.choice end,                           -- it copies us
}

local known = {} -- opponent -> what we know of it

local function about(opponent)
  local k = known[opponent]
  if k == nil then
    k = { trust = {}, expected = {}, in_role = {} }
    for i = 1, #advisers do k.trust[i] = 0 end
    known[opponent] = k
  end
  return k
end

function choose(turn)
  local k = known[turn.opponent]
  if k == nil or k.last == nil then
    return 0.5
  end
  local last, same, trust, expected, best = k.last, k.in_role[turn.role], k.trust, k.expected, nil
  for i = 1, #advisers do
    local said = advisers[i](last, same)
    expected[i] = said
    if said and (best == nil or trust[i] > trust[best]) then
      best = i
    end
  end
  local answer = opposite(expected[best])
  if last.choice == last.opponent_choice and answer ~= last.choice then
    -- Both of us may be about to change. Let a coin decide, or we go on alike.
    return answer == "even" and params.doubt or 1 - params.doubt
  end
  return answer
end

function observe(outcome)
  local mine, theirs = outcome.choice, outcome.opponent_choice
  if not (outcome.opponent and outcome.role and mine and theirs) then
    return -- nothing to learn from: a technical loss, or we were not told
  end
  local k = about(outcome.opponent)
  local trust, expected = k.trust, k.expected
  for i = 1, #advisers do
    if expected[i] then
      trust[i] = params.fade * trust[i] + (expected[i] == theirs and 1 or -1)
    end
  end
  k.last = outcome -- an outcome may be kept: it is ours
  k.in_role[outcome.role] = outcome
end

-- Tries to search long strings for ever.
-- Want budget at 4
function choose(turn)
  while true do for w in (("a "):rep(1e5)):gmatch("%a+") do end end
  return "even"
end

-- Tries to replace its own hooks when it is too late.
-- Want none
function choose(turn)
  choose, observe, start = nil, function() while true do end end, 7
  return "even"
end

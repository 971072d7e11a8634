-- Tries a loop in the order of a sort.
-- Want budget at 4
function choose(turn)
  table.sort({3, 1, 2}, function() while true do end end)
  return "even"
end

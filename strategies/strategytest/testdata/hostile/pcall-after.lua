-- Tries to go on after pcall has caught the end of its budget.
-- Want budget at 4-6
function choose(turn)
  local ok = pcall(function() while true do end end)
  while true do ok = pcall(error, "again") end
  return "even"
end

-- Tries to swallow the end of its budget with pcall.
-- Want budget at 4-5
function choose(turn)
  while true do pcall(function() while true do end end)
  end
  return "even"
end

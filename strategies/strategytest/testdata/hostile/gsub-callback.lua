-- Tries a loop in the function that gsub calls.
-- Want budget at 4
function choose(turn)
  ("abc"):gsub(".", function() while true do end end)
  return "even"
end

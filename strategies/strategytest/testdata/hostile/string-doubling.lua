-- Tries a string that doubles.
-- Want error at 5
function choose(turn)
  local s = "x"
  while true do s = s .. s end
  return "even"
end

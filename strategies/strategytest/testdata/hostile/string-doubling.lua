-- Tries a string that doubles.
-- Want crash
function choose(turn)
  local s = "x"
  while true do s = s .. s end
  return "even"
end

-- Tries a store far above the end of a table.
-- Want none
function choose(turn)
  local t = {}
  t[2^26 - 2] = 1
  return "even"
end

-- Tries a hundred million values at once.
-- Want error at 4
function choose(turn)
  local n = select("#", unpack({}, 1, 1e8))
  return "even"
end

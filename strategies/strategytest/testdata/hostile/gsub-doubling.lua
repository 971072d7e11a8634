-- Tries a string that doubles by gsub.
-- Want timeout
function choose(turn)
  local s = ("x"):rep(6e5)
  s = s:gsub("x", "xx")
  return "even"
end

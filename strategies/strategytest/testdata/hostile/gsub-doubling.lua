-- Tries a string that doubles by gsub.
-- Want error budget at 5
function choose(turn)
  local s = ("x"):rep(6e5)
  s = s:gsub("x", "xx")
  return "even"
end

-- Tries a replacement that repeats the whole string for each match.
-- Want crash
function choose(turn)
  local s = ("a"):rep(1e5)
  s = s:gsub("^(.*)$", ("%1"):rep(1000))
  return "even"
end

-- Tries a pattern that backtracks for ever.
-- Want timeout
function choose(turn)
  string.find(("a"):rep(30000) .. "b", ".-.-.-.-.-.-c")
  return "even"
end

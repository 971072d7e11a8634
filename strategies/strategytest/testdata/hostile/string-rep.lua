-- Tries string.rep of a terabyte, again and again.
-- Want budget timeout at 4
function choose(turn)
  while true do pcall(string.rep, "x", 1e12) pcall(string.rep, ("y"):rep(1e5), 1e9) end
  return "even"
end

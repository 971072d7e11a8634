-- Tries string.format with a width of a million.
-- Want error at 4
function choose(turn)
  string.format("%1000000d", 1)
  return "even"
end

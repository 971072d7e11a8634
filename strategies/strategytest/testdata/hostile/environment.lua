-- Tries to read the environment.
-- Want error at 4
function choose(turn)
  local home = os.getenv("HOME")
  return "even"
end

-- Tries to open a file.
-- Want error at 4
function choose(turn)
  io.open("/etc/passwd")
  return "even"
end

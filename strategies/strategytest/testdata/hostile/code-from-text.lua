-- Tries to compile code.
-- Want error at 4
function choose(turn)
  loadstring("while true do end")()
  return "even"
end

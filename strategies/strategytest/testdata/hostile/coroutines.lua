-- Tries to hide a loop in a coroutine.
-- Want error at 4
function choose(turn)
  coroutine.wrap(function() while true do end end)()
  return "even"
end

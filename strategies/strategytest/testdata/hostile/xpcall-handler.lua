-- Tries a loop in the handler of xpcall.
-- Want budget at 4-5
function choose(turn)
  xpcall(function() error("x") end, function() while true do end end)
  return "even"
end

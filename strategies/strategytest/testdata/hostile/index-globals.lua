-- Tries a loop in whatever global the host might look up.
-- Want budget at 4
setmetatable(_G, {
  __index = function() while true do end end,
  __newindex = function() while true do end end,
})
rawset(_G, "choose", function(turn)
  return missing
end)

-- Tries an error whose text loops.
-- Want error at 4
local bad = setmetatable({}, {__tostring = function() while true do end end, __index = function() while true do end end})
function choose(turn) error(bad) end

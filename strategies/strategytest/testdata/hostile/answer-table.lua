-- Tries an answer whose text and comparison loop.
-- Want invalid-choice at 4
local function loop() while true do end end
function choose(turn) return setmetatable({"even"}, {__tostring = loop, __eq = loop, __index = loop, __len = loop}) end

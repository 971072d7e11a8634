-- Tries an endless loop at the top level.
-- Want load at 4
function choose(turn) return "even" end
while true do end

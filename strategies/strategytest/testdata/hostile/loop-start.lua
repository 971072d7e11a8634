-- Tries an endless loop in start.
-- Want budget at 4
function choose(turn) return "even" end
function start(setup) while true do end end

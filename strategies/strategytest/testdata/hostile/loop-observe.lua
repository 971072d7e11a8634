-- Tries an endless loop in observe.
-- Want budget at 4
function choose(turn) return "even" end
function observe(outcome) while true do end end

-- Tries an answer of a megabyte.
-- Want invalid-choice at 3
function choose(turn) return ("even"):rep(250000) end

-- Tries an answer that is nearly one.
-- Want invalid-choice at 3
function choose(turn) return "even " end

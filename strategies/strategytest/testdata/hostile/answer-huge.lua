-- Tries an answer that is too large a number.
-- Want invalid-choice at 3
function choose(turn) return -1e308 * 10 end

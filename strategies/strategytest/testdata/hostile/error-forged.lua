-- Tries to pass an error of its own for one of the interpreter's.
-- Want budget at 3
function choose(turn) error("stack overflow", 0) end

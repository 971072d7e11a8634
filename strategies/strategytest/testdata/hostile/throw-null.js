// Tries to throw nothing.
// Want error at 3
function choose(turn) { throw null; }

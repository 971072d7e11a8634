// Tries the probability minus zero, which is one.
// Want none
function choose(turn) { return -0; }

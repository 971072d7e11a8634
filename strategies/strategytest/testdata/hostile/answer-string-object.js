// Tries an object that passes for a string.
// Want invalid-choice at 3
function choose(turn) { return new String("even"); }

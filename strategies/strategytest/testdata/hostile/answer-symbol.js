// Tries a symbol whose description is a megabyte.
// Want invalid-choice at 3
function choose(turn) { return Symbol("even".repeat(250000)); }

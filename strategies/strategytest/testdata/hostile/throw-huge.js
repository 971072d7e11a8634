// Tries an error message of a megabyte, with line breaks.
// Want error at 3
function choose(turn) { throw new Error("x\n\u001b[2J".repeat(1e5)); }

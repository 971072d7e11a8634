// Tries an array whose only element is an answer.
// Want invalid-choice at 3
function choose(turn) { return ["even"]; }

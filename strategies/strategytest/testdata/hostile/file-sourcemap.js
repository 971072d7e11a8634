// Tries to have the host read a file for a source map.
// Want none
function choose(turn) { return "even"; }
//# sourceMappingURL=/dev/zero

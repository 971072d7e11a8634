// Tries to freeze the turn that the host writes.
// Want error at 3
function choose(turn) { Object.freeze(turn); return "even"; }

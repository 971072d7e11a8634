// Tries an endless loop at the top level.
// Want load at 1-4
function choose(turn) { return "even"; }
for (;;) {}

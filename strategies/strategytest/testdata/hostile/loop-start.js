// Tries an endless loop in start.
// Want timeout at 4
function choose(turn) { return "even"; }
function start(setup) { for (;;) {} }

// Tries an endless loop in observe.
// Want timeout at 4
function choose(turn) { return "even"; }
function observe(outcome) { for (;;) {} }

// Tries an answer with a Symbol.toPrimitive that loops.
// Want invalid-choice at 3
function choose(turn) { return { [Symbol.toPrimitive]() { for (;;) {} }, toString() { for (;;) {} }, valueOf() { for (;;) {} } }; }

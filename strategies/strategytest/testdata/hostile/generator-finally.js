// Tries a generator that goes on when it is closed.
// Want timeout at 3-4
function* stubborn() { for (;;) try { yield 1; } finally { for (;;) {} } }
function choose(turn) {
  for (const x of stubborn()) break;
  return "even";
}

// Tries to have the stack written down for ever.
// Want timeout budget at 3-4
function deep(n) { return n > 0 ? deep(n - 1) : new Error("x").stack; }
function choose(turn) {
  for (;;) deep(1000);
  return "even";
}

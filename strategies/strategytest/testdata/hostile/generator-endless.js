// Tries a generator that never ends, drained by the interpreter.
// Want timeout budget at 3-5
function* all() { for (;;) yield 1; }
function choose(turn) {
  return [...all()].length;
  return "even";
}

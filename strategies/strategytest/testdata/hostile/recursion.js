// Tries a recursion that never ends.
// Want budget at 3
function f() { return 1 + f(); }
function choose(turn) {
  f();
  return "even";
}

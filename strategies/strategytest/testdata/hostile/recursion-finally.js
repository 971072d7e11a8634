// Tries a recursion that goes on in finally.
// Want budget timeout at 3
function f() { try { f(); } finally { f(); } }
function choose(turn) {
  f();
  return "even";
}

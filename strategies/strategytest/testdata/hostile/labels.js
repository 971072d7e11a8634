// Tries loops in loops with labels.
// Want timeout at 3-4
function choose(turn) {
  outer: for (;;) inner: for (;;) { for (;;) continue outer; }
  return "even";
}

// Tries an endless loop in choose.
// Want timeout at 3-4
function choose(turn) {
  for (;;) {}
  return "even";
}

// Tries numbers made text for ever.
// Want timeout at 3-4
function choose(turn) {
  for (;;) (1e300).toString(2) + (1.5).toFixed(100);
  return "even";
}

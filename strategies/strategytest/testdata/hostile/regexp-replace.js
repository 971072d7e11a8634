// Tries to search long strings for ever.
// Want timeout budget at 4
function choose(turn) {
  for (;;) "a".repeat(8000).replace(/a*?a*?a*?c/g, "x");
  return "even";
}

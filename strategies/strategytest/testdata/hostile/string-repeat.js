// Tries repeat of a terabyte.
// Want budget at 4
function choose(turn) {
  "x".repeat(2 ** 40);
  return "even";
}

// Tries a reference to a group that backtracks for ever.
// Want timeout at 4
function choose(turn) {
  /^(a*)*\1b$/.test("a".repeat(60));
  return "even";
}

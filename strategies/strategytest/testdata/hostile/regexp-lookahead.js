// Tries a regular expression that backtracks for ever.
// Want timeout at 4
function choose(turn) {
  /^(?=(a+)+$)a/.test("a".repeat(60) + "b");
  return "even";
}

// Tries to fill the log.
// Want timeout budget at 4
function choose(turn) {
  for (;;) console.log("x".repeat(1e6));
  return "even";
}

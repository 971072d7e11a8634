// Tries to keep 30 MB more at every match.
// Want budget at 5 with default limits
const kept = [];
function choose(turn) {
  for (let i = 0; i < 30; i++) kept.push("x".repeat(1e6));
  return "even";
}

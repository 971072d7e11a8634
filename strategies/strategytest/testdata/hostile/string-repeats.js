// Tries as many long strings as it can.
// Want budget at 5 with default limits
function choose(turn) {
  const t = [];
  for (;;) t.push("x".repeat(1e6));
  return "even";
}

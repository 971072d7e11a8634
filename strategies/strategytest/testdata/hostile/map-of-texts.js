// Tries a map whose keys are a million characters long.
// Want budget timeout at 5 with default limits
function choose(turn) {
  const m = new Map(), s = "x".repeat(1e6);
  for (let i = 0; ; i++) m.set(s + i, 1);
  return "even";
}

// Tries a map that grows for ever.
// Want timeout budget at 5 with default limits
function choose(turn) {
  const m = new Map();
  for (let i = 0; ; i++) m.set(i, {});
  return "even";
}

// Tries an array that grows for ever.
// Want timeout budget at 5 with default limits
function choose(turn) {
  const a = [];
  for (;;) a.push({});
  return "even";
}

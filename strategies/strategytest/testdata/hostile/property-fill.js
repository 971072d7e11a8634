// Tries an object of ever new properties.
// Want timeout budget at 5 with default limits
function choose(turn) {
  const o = {};
  for (let i = 0; ; i++) o["k" + i] = {};
  return "even";
}

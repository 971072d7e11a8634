// Tries to go through an array of four thousand million.
// Want budget at 5
function choose(turn) {
  const a = []; a[2 ** 32 - 2] = 1;
  a.sort();
  return "even";
}

// Tries an array of four thousand million from nothing.
// Want budget at 4
function choose(turn) {
  Array.from({ length: 2 ** 32 - 1 }, (_, i) => i);
  return "even";
}

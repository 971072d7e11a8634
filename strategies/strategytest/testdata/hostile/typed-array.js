// Tries a typed array of a terabyte.
// Want budget at 4
function choose(turn) {
  new Float64Array(2 ** 37);
  return "even";
}

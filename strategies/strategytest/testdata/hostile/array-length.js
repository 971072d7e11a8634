// Tries an array of fifty million, filled.
// Want budget at 4
function choose(turn) {
  new Array(5e7).fill(0);
  return "even";
}

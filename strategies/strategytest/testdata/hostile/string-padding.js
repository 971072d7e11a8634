// Tries padStart of a gigabyte.
// Want budget at 4
function choose(turn) {
  "x".padStart(2 ** 30);
  return "even";
}

// Tries a number of any size, written down.
// Want load
function choose(turn) {
  return 2n ** 1000000000n;
  return "even";
}

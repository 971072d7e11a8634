// Tries a number of any size, made.
// Want timeout
function choose(turn) {
  return BigInt(2) ** BigInt(1e9);
  return "even";
}

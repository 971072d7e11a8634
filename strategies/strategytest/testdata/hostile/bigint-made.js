// Tries a number of any size, made.
// Want error at 4
function choose(turn) {
  return BigInt(2) ** BigInt(1e9);
  return "even";
}

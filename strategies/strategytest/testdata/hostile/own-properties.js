// Tries to describe a million characters as properties.
// Want budget at 4
function choose(turn) {
  Object.getOwnPropertyDescriptors(new String("x".repeat(1e6)));
  return "even";
}

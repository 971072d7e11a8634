// Tries the same by names that are put together.
// Want budget at 5
function choose(turn) {
  const s = new String("x".repeat(1e6)), get = "getOwnProperty";
  Object[get + "Descriptors"](s);
  return "even";
}

// Tries what only looks like a long array.
// Want timeout
function choose(turn) {
  Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);
  return "even";
}

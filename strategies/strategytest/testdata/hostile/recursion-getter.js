// Tries a recursion by way of a getter.
// Want budget timeout at 3
const o = { get x() { return this.x; } };
function choose(turn) {
  o.x;
  return "even";
}

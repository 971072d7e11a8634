// Tries a recursion by way of toString.
// Want budget timeout at 3
const o = { toString() { return "" + o; } };
function choose(turn) {
  return `${o}`;
  return "even";
}

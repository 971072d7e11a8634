// Tries a function called with a thousand million arguments.
// Want budget at 4
function choose(turn) {
  Math.max.apply(null, { length: 1e9 });
  return "even";
}

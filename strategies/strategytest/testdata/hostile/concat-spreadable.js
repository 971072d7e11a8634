// Tries what passes for an array to be spread.
// Want timeout
function choose(turn) {
  [].concat({ length: 2 ** 32 - 1, [Symbol.isConcatSpreadable]: true });
  return "even";
}

// Tries what passes for an array to be spread.
// Want error at 4
function choose(turn) {
  [].concat({ length: 2 ** 32 - 1, [Symbol.isConcatSpreadable]: true });
  return "even";
}

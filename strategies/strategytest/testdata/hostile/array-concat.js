// Tries an array that doubles.
// Want budget at 5
function choose(turn) {
  let a = [1];
  for (;;) a = a.concat(a);
  return "even";
}

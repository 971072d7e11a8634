// Tries a string that doubles.
// Want budget at 5
function choose(turn) {
  let s = "x";
  for (;;) s += s;
  return "even";
}

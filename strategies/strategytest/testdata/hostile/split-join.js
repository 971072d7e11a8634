// Tries a string that grows by split and join.
// Want budget at 5
function choose(turn) {
  let s = "ab";
  for (;;) s = s.split("").join(s);
  return "even";
}

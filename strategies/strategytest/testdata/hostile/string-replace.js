// Tries a replacement that repeats the string for each match.
// Want budget at 5
function choose(turn) {
  let s = "xx";
  for (;;) s = s.replaceAll("x", "$`$'xx");
  return "even";
}

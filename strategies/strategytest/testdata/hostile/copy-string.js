// Tries to make properties of a million characters.
// Want budget at 4
function choose(turn) {
  for (;;) ({ ...("x".repeat(1e6)) });
  return "even";
}

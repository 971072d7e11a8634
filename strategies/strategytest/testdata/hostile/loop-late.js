// Tries to behave for a while, and then a loop.
// Want timeout at 6
let n = 0;
function choose(turn) {
  n++;
  while (n > 5) {}
  return "even";
}

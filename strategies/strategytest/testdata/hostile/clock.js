// Tries to read the clock.
// Want error at 4
function choose(turn) {
  return new Date().getMilliseconds() / 1000;
  return "even";
}

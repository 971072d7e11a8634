// Tries to compile code by way of a generator's constructor.
// Want error at 4
function choose(turn) {
  return Object.getPrototypeOf(function* () {}).constructor("for (;;) {}")().next();
  return "even";
}

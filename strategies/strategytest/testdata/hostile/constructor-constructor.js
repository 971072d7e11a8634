// Tries to compile code by way of a constructor's constructor.
// Want error at 4
function choose(turn) {
  return (() => {}).constructor.constructor("for (;;) {}")();
  return "even";
}

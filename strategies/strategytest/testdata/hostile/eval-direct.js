// Tries to compile code by eval.
// Want error at 4
function choose(turn) {
  return eval("for (;;) {}");
  return "even";
}

// Tries to compile code by an eval that it calls by another name.
// Want error at 4
function choose(turn) {
  return globalThis["ev" + "al"]("for (;;) {}");
  return "even";
}

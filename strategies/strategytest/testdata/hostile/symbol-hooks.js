// Tries well-known symbols whose code loops.
// Want timeout error at 4
function choose(turn) {
  [] instanceof { [Symbol.hasInstance]() { for (;;) {} } };
  return "even";
}

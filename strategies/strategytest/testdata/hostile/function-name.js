// Tries a loop in the name of a function, which the interpreter asks for while it is stopped.
// Want error timeout at 4
function choose(turn) {
  Object.defineProperty(Math.max, "name", { get() { for (;;) {} } });
  for (;;) {}
  return "even";
}

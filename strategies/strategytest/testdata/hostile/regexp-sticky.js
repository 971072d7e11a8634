// Tries an object that passes for a regular expression.
// Want timeout budget error at 3-4
const fake = { exec() { return { index: 0, 0: "", length: 2 ** 53 - 1 }; }, flags: "g", [Symbol.replace]: RegExp.prototype[Symbol.replace] };
function choose(turn) {
  "abc".replace(fake, "x");
  return "even";
}

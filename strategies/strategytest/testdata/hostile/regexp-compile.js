// Tries a regular expression that takes all memory to compile.
// Want none
function choose(turn) {
  new RegExp("a{900}b{900}c{900}d{900}e{900}f{900}");
  return "even";
}

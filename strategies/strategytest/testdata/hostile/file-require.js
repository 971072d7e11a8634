// Tries to read a file.
// Want error at 4
function choose(turn) {
  return require("fs").readFileSync("/etc/passwd");
  return "even";
}

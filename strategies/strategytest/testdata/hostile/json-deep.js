// Tries JSON that is nested too deeply for the host's stack.
// Want error at 4
function choose(turn) {
  JSON.parse("[".repeat(1e5));
  return "even";
}

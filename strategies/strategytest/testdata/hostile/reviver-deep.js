// Tries a reviver that puts in what is nested too deeply for the host's stack.
// Want none
function choose(turn) {
  let deep = [];
  for (let i = 0; i < 1e4; i++) deep = [deep];
  JSON.parse("[1,2]", function (k, v) { if (k === "0") this[1] = deep; return v; });
  return "even";
}

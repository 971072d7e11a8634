// Tries a reviver that puts an array into itself.
// Want budget at 4
function choose(turn) {
  JSON.parse("[1,2]", function (k, v) { if (k === "0") this[1] = this; return v; });
  return "even";
}

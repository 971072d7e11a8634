// Tries to register ever new symbols.
// Want budget timeout at 4 with default limits
function choose(turn) {
  for (let i = 0; ; i++) Symbol.for("k".repeat(60000) + i);
  return "even";
}

// Tries an array that doubles by spreading.
// Want budget timeout at 5
function choose(turn) {
  let a = [1];
  for (;;) a = [...a, ...a];
  return "even";
}

// Tries arrays nested so deeply that the host's stack would burst.
// Want budget timeout at 6
function choose(turn) {
  let a = [];
  for (let i = 0; i < 1e5; i++) a = [a];
  return a.toString();
  return "even";
}

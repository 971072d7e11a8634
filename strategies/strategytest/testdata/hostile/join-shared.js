// Tries arrays that share their elements, made a string.
// Want budget timeout at 6 with default limits
function choose(turn) {
  let a = ["x".repeat(4000)];
  for (let i = 0; i < 25; i++) a = [a, a];
  a.toString();
  return "even";
}

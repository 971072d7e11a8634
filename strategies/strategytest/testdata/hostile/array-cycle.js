// Tries an array that contains itself, made a string.
// Want budget timeout at 4-6
function choose(turn) {
  const a = []; a.push(a, a);
  a.flat(Infinity);
  return "even";
}

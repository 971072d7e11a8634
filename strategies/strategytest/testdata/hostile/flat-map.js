// Tries a long array for each element of a long array.
// Want budget timeout at 6
function choose(turn) {
  const a = new Array(262144).fill(0), b = new Array(262144).fill(1);
  for (;;)
    a.flatMap(() => b);
  return "even";
}

// Tries orders that contradict themselves, for ever.
// Want timeout at 4-6
function choose(turn) {
  const a = Array.from({ length: 1000 }, (_, i) => i);
  let n = 0;
  for (;;) a.sort(() => (n = n + 1) % 3 - 1);
  return "even";
}

// Tries to keep some more objects at every match.
// Want budget with default limits
const kept = [];
function choose(turn) {
  for (let i = 0; i < 1e5; i++) kept.push({ a: i, b: [i] });
  return "even";
}

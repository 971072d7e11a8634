// Tries to look for a text among texts that differ in their last character.
// Want budget timeout at 5-6
function choose(turn) {
  const s = "x".repeat(1e6), t = s.slice(0, 999999) + "y";
  const a = new Array(262144).fill(s);
  a.includes(t);
  return "even";
}

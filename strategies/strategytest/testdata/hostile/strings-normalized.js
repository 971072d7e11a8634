// Tries to keep strings that grow eighteen-fold.
// Want budget at 5
function choose(turn) {
  const kept = [], s = "\uFDFA".repeat(1e6);
  for (;;) kept.push(s.normalize("NFKD"));
  return "even";
}

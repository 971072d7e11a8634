// Tries strings that grow when they change case or form.
// Want timeout budget at 5
function choose(turn) {
  let s = "\u0390\uFDFA";
  for (;;) s = (s + s).normalize("NFKD").toUpperCase();
  return "even";
}

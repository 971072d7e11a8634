// Tries functions bound again and again.
// Want budget at 5
function choose(turn) {
  let f = () => {};
  for (;;) f = f.bind(null);
  return "even";
}

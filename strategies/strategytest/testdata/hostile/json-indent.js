// Tries JSON that is mostly indentation.
// Want budget at 6
function choose(turn) {
  let o = {};
  for (let i = 0; i < 5000; i++) o = { o };
  JSON.stringify(o, null, 10);
  return "even";
}

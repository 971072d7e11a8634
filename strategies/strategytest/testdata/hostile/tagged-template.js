// Tries a tag that keeps what it is handed.
// Want timeout budget at 3-5
const kept = []; function tag(parts) { kept.push(parts); return tag; }
function choose(turn) {
  for (;;) tag`a${1}b`;
  return "even";
}

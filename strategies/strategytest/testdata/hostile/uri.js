// Tries text that grows when it is encoded.
// Want timeout budget error at 4-5
function choose(turn) {
  let s = "\uFFFF".repeat(1e5);
  for (;;) s = encodeURIComponent(s);
  return "even";
}

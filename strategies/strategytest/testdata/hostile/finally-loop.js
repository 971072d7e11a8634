// Tries to go on in finally when it is stopped.
// Want timeout at 3-6
function choose(turn) {
  for (;;) {
    try { for (;;) {} } catch (e) {} finally { continue; }
  }
  return "even";
}

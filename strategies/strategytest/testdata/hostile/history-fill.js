// Tries to fill the history that the host keeps in the script.
// Want timeout budget at 4 with default limits
function choose(turn) {
  for (;;) turn.history.push({});
  return "even";
}

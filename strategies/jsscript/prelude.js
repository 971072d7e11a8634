// What the host calls to tell how a match ended: it makes the outcome, which
// is the entry of the history as well, and hands it to the script.
(function (observe, history, match_id, round, opponent, role, choice, opponent_choice, drawn_number, result, points) {
  const outcome = { match_id, round, opponent, role, choice, opponent_choice, drawn_number, result, points };
  if (opponent !== null) history[history.length] = outcome;
  if (observe !== undefined) observe(outcome);
})

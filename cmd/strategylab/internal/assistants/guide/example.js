// Contrary: says the opposite of what the opponent says most after what happened last.
// It counts what each opponent said after each choice of its own.

const counts = {}; // by opponent and the opponent's last choice

function seen(opponent, last) {
  const key = opponent + " after " + last;
  if (!counts[key]) counts[key] = { even: 0, odd: 0 };
  return counts[key];
}

function choose(turn) {
  const last = turn.history[turn.history.length - 1];
  const c = seen(turn.opponent, last && last.opponent_choice || "nothing");
  if (c.even === c.odd) return 0.5; // nothing to go by: a coin
  return c.even > c.odd ? "odd" : "even";
}

const before = {}; // the opponent's last choice

function observe(outcome) {
  if (!outcome.opponent_choice) return; // it failed, or this league does not tell
  seen(outcome.opponent, before[outcome.opponent] || "nothing")[outcome.opponent_choice]++;
  before[outcome.opponent] = outcome.opponent_choice;
}

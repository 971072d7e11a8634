// Ledger: keeps books on every opponent and bets as much as it knows
//
// What an opponent does next often depends on what has just happened. The
// ledger has one account for each opponent and situation (my last choice and
// theirs) and counts what they did in it. Where the account is clear it plays
// the opposite of their habit; where it is empty it stays with what worked; in
// between it answers with a probability.

const accounts = new Map(); // "P02 even odd" -> { even, odd }
const latest = new Map();   // opponent -> the last match that both played

function choose(turn) {
  const last = latest.get(turn.opponent);
  const { even, odd } = accountFor(turn.opponent, last);

  // Where they play odd, even differs. One imagined match of each kind keeps a
  // single observation from being taken for a law.
  const evenDiffers = (odd + 1) / (even + odd + 2);
  if (evenDiffers >= 0.65) return "even";
  if (evenDiffers <= 0.35) return "odd";

  const worked = last !== undefined && last.choice !== last.opponent_choice;
  return worked ? last.choice : evenDiffers;
}

function observe(outcome) {
  if (outcome.choice === null || outcome.opponent_choice === null) return; // a technical loss
  const { opponent, opponent_choice: theirs } = outcome;
  accountFor(opponent, latest.get(opponent))[theirs]++;
  latest.set(opponent, outcome); // an outcome may be kept; a turn may not
}

function accountFor(opponent, last) {
  const key = last === undefined ? opponent : `${opponent} ${last.choice} ${last.opponent_choice}`;
  let account = accounts.get(key);
  if (account === undefined) accounts.set(key, (account = { even: 0, odd: 0 }));
  return account;
}

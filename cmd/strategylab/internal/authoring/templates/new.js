// NAME: plays against what each opponent has played most
// Points are won when the two choices differ, so this counts what an opponent
// has played so far and answers with the other parity. Change choose() to
// make it yours; scripts/README.md lists all that a script can see.

// How often each opponent has played even and odd, by player id.
const seen = new Map();

// Called once, before the first match. Leave it out if you do not need it.
function start(setup) {
  for (const id of setup.players) {
    seen.set(id, { even: 0, odd: 0 });
  }
}

// Called for every match: return "even", "odd", or the probability of even.
function choose(turn) {
  const counts = seen.get(turn.opponent) ?? { even: 0, odd: 0 };
  if (counts.even === counts.odd) {
    return 0.5; // nothing to go by
  }
  return counts.even > counts.odd ? "odd" : "even";
}

// Called after every match. A choice is null where the opponent made none.
function observe(outcome) {
  const counts = seen.get(outcome.opponent);
  if (counts && outcome.opponent_choice !== null) {
    counts[outcome.opponent_choice]++;
  }
}

// Rhythm: finds the beat in an opponent's choices and steps off it
//
// Many opponents repeat themselves: always even, even-odd-even-odd, two of each.
// Rhythm looks for the shortest period that explains what this opponent chose
// lately, predicts the next choice from it, and plays the opposite: points are
// made where the two choices differ. Where it hears no beat it keeps its own, so
// that others can step around it.

const LONGEST = 4; // periods to look for
const PROOF = 2;   // how many choices must have repeated before it is a beat

function choose(turn) {
  const theirs = turn.history.map((match) => match.opponent_choice);
  const next = predict(theirs);
  if (next !== null) return next === "even" ? "odd" : "even";

  const last = turn.history.at(-1);
  if (last === undefined || last.choice === null) return 0.5; // a coin, thrown by the host
  return last.choice === last.opponent_choice ? 0.5 : last.choice;
}

// predict returns what comes next if the choices have a period, or null.
function predict(choices) {
  for (let period = 1; period <= LONGEST; period++) {
    if (choices.length < period + PROOF) return null;
    if (repeats(choices, period)) return choices[choices.length - period];
  }
  return null;
}

// repeats looks back for two periods: what was long ago may have been another
// tune. A missing choice is a technical loss, and no part of any.
function repeats(choices, period) {
  const start = Math.max(period, choices.length - period - PROOF);
  for (let i = start; i < choices.length; i++) {
    if (choices[i] === null || choices[i] !== choices[i - period]) return false;
  }
  return true;
}

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
  const { history } = turn;
  const next = predict(history);
  if (next !== null) return next === "even" ? "odd" : "even";

  const last = history[history.length - 1];
  if (last === undefined || last.choice === null) return 0.5; // a coin, thrown by the host
  return last.choice === last.opponent_choice ? 0.5 : last.choice;
}

// predict returns what they choose next if their choices have a period, or null.
function predict(history) {
  for (let period = 1; period <= LONGEST; period++) {
    if (history.length < period + PROOF) return null;
    if (repeats(history, period)) return history[history.length - period].opponent_choice;
  }
  return null;
}

// repeats looks back for two periods: what was long ago may have been another
// tune. A missing choice is a technical loss, and no part of any.
function repeats(history, period) {
  const start = Math.max(period, history.length - period - PROOF);
  for (let i = start; i < history.length; i++) {
    const theirs = history[i].opponent_choice;
    if (theirs === null || theirs !== history[i - period].opponent_choice) return false;
  }
  return true;
}

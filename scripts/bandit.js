// Bandit: tries simple tactics on every opponent and sticks to what pays
//
// A bandit with several arms, each a tactic of one line. After a match it is
// known what the opponent chose, so every tactic can be scored, not only the one
// that was played: it scores if its choice would have differed. Old scores fade,
// because opponents learn too. Now and then an arm is pulled at random, and more
// often after a clash: two bandits who meet would go on alike for ever.

const opposite = (choice) => (choice === "even" ? "odd" : "even");

// Each tactic is given my last choice and theirs.
const tactics = [
  (mine, theirs) => mine,             // stay, and let them step around me
  (mine, theirs) => opposite(theirs), // they stay
  (mine, theirs) => theirs,           // they switch
  (mine, theirs) => opposite(mine),   // they copy me
];

const FADE = 0.8; // what a score is worth one match later
const EXPLORE = { worked: 0.05, clashed: 0.25 }; // how often an arm is pulled at random
const files = new Map(); // opponent -> { scores, last }

function choose(turn) {
  const { scores, last } = fileOf(turn.opponent);
  if (last === null) return turn.role === "PLAYER_A" ? "even" : "odd";

  let arm = scores.indexOf(Math.max(...scores));
  const explore = last.choice === last.opponent_choice ? EXPLORE.clashed : EXPLORE.worked;
  if (Math.random() < explore) arm = Math.floor(Math.random() * tactics.length);
  return tactics[arm](last.choice, last.opponent_choice);
}

function observe(outcome) {
  if (outcome.choice === null || outcome.opponent_choice === null) return; // a technical loss
  const file = fileOf(outcome.opponent);
  if (file.last !== null) {
    const { choice: mine, opponent_choice: theirs } = file.last;
    file.scores = file.scores.map((score, arm) => {
      const differs = tactics[arm](mine, theirs) !== outcome.opponent_choice;
      return FADE * score + (differs ? 1 : 0);
    });
  }
  file.last = outcome; // an outcome may be kept; a turn may not
}

function fileOf(opponent) {
  if (!files.has(opponent)) files.set(opponent, { scores: tactics.map(() => 0), last: null });
  return files.get(opponent);
}

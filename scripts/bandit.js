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
const files = new Map(); // opponent -> { scores, mine, theirs }

function choose(turn) {
  const file = fileOf(turn.opponent);
  if (file.mine === null) return turn.role === "PLAYER_A" ? "even" : "odd";

  let arm = best(file.scores);
  const explore = file.mine === file.theirs ? EXPLORE.clashed : EXPLORE.worked;
  if (Math.random() < explore) arm = Math.floor(Math.random() * tactics.length);
  return tactics[arm](file.mine, file.theirs);
}

function observe(outcome) {
  const { choice: mine, opponent_choice: theirs } = outcome;
  if (mine === null || theirs === null) return; // a technical loss
  const file = fileOf(outcome.opponent);
  if (file.mine !== null) {
    for (let arm = 0; arm < tactics.length; arm++) {
      const differs = tactics[arm](file.mine, file.theirs) !== theirs;
      file.scores[arm] = FADE * file.scores[arm] + (differs ? 1 : 0);
    }
  }
  file.mine = mine;
  file.theirs = theirs;
}

// best returns the arm with the highest score, the first of those level.
function best(scores) {
  let arm = 0;
  for (let i = 1; i < scores.length; i++) {
    if (scores[i] > scores[arm]) arm = i;
  }
  return arm;
}

function fileOf(opponent) {
  let file = files.get(opponent);
  if (file === undefined) files.set(opponent, (file = { scores: tactics.map(() => 0), mine: null, theirs: null }));
  return file;
}

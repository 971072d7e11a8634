// Bandit: tries simple tactics on every opponent and sticks to what pays
//
// A bandit with four arms, each a tactic of one line. After a match it is
// known what the opponent chose, so every tactic can be scored, not only the one
// that was played: it scores if its choice would have differed. Old scores fade,
// because opponents learn too. Now and then an arm is pulled at random, and more
// often after a clash: two bandits who meet would go on alike for ever.
// param: fade 0.0..1.0 = 0.8      what a score is worth one match later
// param: clashed 0.0..1.0 = 0.25  how often an arm is pulled at random after a clash

const opposite = (choice) => (choice === "even" ? "odd" : "even");

// The arms, given my last choice and theirs.
const STAY = 0;      // play mine, and let them step around me
const THEY_STAY = 1; // play the opposite of theirs
const THEY_TURN = 2; // play theirs
const THEY_COPY = 3; // play the opposite of mine

const files = new Map(); // opponent -> { scores, mine, theirs }

function choose(turn) {
  const file = fileOf(turn.opponent);
  if (file.mine === null) return turn.role === "PLAYER_A" ? "even" : "odd";

  let arm = best(file.scores);
  const explore = file.mine === file.theirs ? params.clashed : 0.05;
  if (Math.random() < explore) arm = Math.floor(Math.random() * file.scores.length);
  return pull(arm, file.mine, file.theirs);
}

function observe(outcome) {
  const { choice: mine, opponent_choice: theirs } = outcome;
  if (mine === null || theirs === null) return; // a technical loss
  const file = fileOf(outcome.opponent);
  if (file.mine !== null) {
    const { scores } = file;
    const mineDiffers = file.mine !== theirs ? 1 : 0;
    const theirsDiffers = file.theirs !== theirs ? 1 : 0;
    scores[STAY] = params.fade * scores[STAY] + mineDiffers;
    scores[THEY_STAY] = params.fade * scores[THEY_STAY] + 1 - theirsDiffers;
    scores[THEY_TURN] = params.fade * scores[THEY_TURN] + theirsDiffers;
    scores[THEY_COPY] = params.fade * scores[THEY_COPY] + 1 - mineDiffers;
  }
  file.mine = mine;
  file.theirs = theirs;
}

function pull(arm, mine, theirs) {
  switch (arm) {
    case STAY: return mine;
    case THEY_STAY: return opposite(theirs);
    case THEY_TURN: return theirs;
    case THEY_COPY: return opposite(mine);
  }
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
  if (file === undefined) files.set(opponent, (file = { scores: [0, 0, 0, 0], mine: null, theirs: null }));
  return file;
}

// Echo: keeps what works, and learns how an opponent answers what does not
//
// Two players who have just differed can go on differing for ever if both stay
// where they are. Two who have clashed must be told apart: if both switch they
// clash again. Echo counts, for each opponent, how often they switch after a
// match that differed and after one that clashed. It expects them to do so
// again and plays the opposite. The first meeting goes by the roles.
//
// param: sure 0.5..1.0 = 0.6  the chance from which on it tosses no coin

const habits = new Map(); // opponent -> { last, differed: {...}, clashed: {...} }

function choose(turn) {
  const habit = habitOf(turn.opponent);
  if (habit.last === null) return turn.role === "PLAYER_A" ? "even" : "odd";

  const { choice, opponent_choice: theirs } = habit.last;
  const differed = choice !== theirs;
  const { switched, stayed } = differed ? habit.differed : habit.clashed;
  // Where nothing is known: stay after a success, toss a coin after a clash.
  const prior = differed ? 0.1 : 0.5;
  const theySwitch = (switched + 2 * prior) / (switched + stayed + 2);

  // If they stay we differ by playing the opposite of their last choice.
  const evenDiffers = theirs === "even" ? theySwitch : 1 - theySwitch;
  if (evenDiffers > params.sure) return "even";
  if (evenDiffers < 1 - params.sure) return "odd";
  return evenDiffers; // in doubt, let the host toss the coin
}

function observe(outcome) {
  if (outcome.choice === null || outcome.opponent_choice === null) return;
  const habit = habitOf(outcome.opponent);
  if (habit.last !== null) {
    const before = habit.last;
    const counts = before.choice !== before.opponent_choice ? habit.differed : habit.clashed;
    if (outcome.opponent_choice === before.opponent_choice) counts.stayed++;
    else counts.switched++;
  }
  habit.last = outcome; // an outcome may be kept; a turn may not
}

function habitOf(opponent) {
  let habit = habits.get(opponent);
  if (habit === undefined) {
    habit = { last: null, differed: { switched: 0, stayed: 0 }, clashed: { switched: 0, stayed: 0 } };
    habits.set(opponent, habit);
  }
  return habit;
}

// Package explain says why strategies score what they score, from the records of
// their matches alone: how predictable each is, what an opponent could make of
// that, what it could itself have made of its opponents, and how it develops over
// the legs of a league.
//
// Two kinds of prediction are made of every choice of every player, before it is
// looked at:
//
//   - by somebody who has studied the player: counts of what it did after the last
//     k choices of both in this meeting and in this role, gathered over leagues;
//   - by somebody who has met it for the first time in this league, and knows what
//     the two have done since: the predictors of [Predictors].
//
// Whoever predicts a choice says the opposite, so a hit is a match in which choices
// differ, worth half a point on average to both. That the best predictor was found
// among several would flatter it. So leagues with an even number are learnt from,
// and leagues with an odd number judge what was learnt; all hit rates and intervals
// come from the latter. Where no prediction can be made, half a hit is counted.
//
// Predicting is dear, so it is done on the first leagues of a run, up to a number of
// matches that is stated; see [Options]. Learning curves come from all leagues.
// Counters are integers; memory does not depend on the number of leagues.
package explain

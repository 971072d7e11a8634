// Package contrast compares two runs: what changed in the plan, and for every
// strategy that played in both whether what it achieved has really changed.
//
// Where both runs have one seed, they are compared league by league. The leagues
// of one index then have the same draws, and if the fields stand alike the same
// seats and coins as well (common random numbers), so that what both share
// cancels and small effects show. Pairing is valid whether or not much is shared,
// because the pairs of leagues are independent of one another. Runs with
// different seeds are independent, and are compared by Welch's test on the league
// values.
//
// All differences of a comparison, of every strategy and measure, are one family
// for Holm's correction: the chance of calling any change real that is none is at
// most one minus the level.
package contrast

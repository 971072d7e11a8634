// Package population looks at the strategies of an experiment as a population:
// what happens if those who score well become more numerous.
//
// Under a fair draw two players who meet expect the same, 1 + p/2 points each,
// where p is the chance that their choices differ. So the game among strategies is
// symmetric and its matrix equals its own transpose: a potential game, in which
// selection never lowers the mean payoff. Nobody beats anybody; strategies differ
// in whom they go well with, themselves included. The diagonal of the matrix, what
// a strategy expects of its own copy, is measured where the field holds copies of
// it, or by leagues of two copies that are played besides; see [Mirror].
//
// Ratings from match wins, such as those of Elo or of Bradley and Terry, are not
// offered: a win needs the luck of the draw, which is the same for both, so
// they would rank noise. [RefuseRating] says so to whoever asks. Placings of whole
// leagues do carry information, and [PlackettLuce] models them.
//
// Everything is a pure function of its arguments.
package population

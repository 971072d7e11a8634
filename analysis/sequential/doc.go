// Package sequential says when an experiment may stop, and what may be said of it
// then. A confidence interval made for a fixed number of leagues fails if somebody
// looks again and again and stops when he likes what he sees. The procedures here
// may be looked at after every league: the chance that they ever err, at whatever
// league, is bounded.
//
// Two kinds of evidence are kept for every pair of players, from the differences
// of their adjusted points league by league:
//
//   - [Student], the t-statistic mixture sequence of T. L. Lai (Annals of
//     Statistics 4 (1976), 265-280), in the form of H. Wang and A. Ramdas
//     (Anytime-valid t-tests and confidence sequences for Gaussian means with
//     unknown variance, Sequential Analysis 44 (2025), 56-110). It knows nothing
//     of the scale and is exact for normal differences. League differences are
//     means over many matches, so they are nearly normal, and a burn-in makes up
//     for the rest: the error is that of the normal case in the limit of a long
//     burn-in.
//   - a hedged capital process that bets against a bounded mean, by I.
//     Waudby-Smith and A. Ramdas (Estimating means of bounded random variables by
//     betting, JRSS B 86 (2024), 1-27), with a fixed mixture of bets. It assumes
//     nothing but the bounds, which the rules of the game give, and needs about
//     twice as many leagues.
//
// A [Tracker] turns either into always-valid p-values, takes their running
// minimum, corrects them for both directions of all pairs by Holm's step-down
// method, and tells whether a [Rule] is met. Whatever was decided drops out of the
// testing; the players stay in the field.
//
// A [Ratio] test is Wald's test of two hypotheses about one difference, with the
// estimate that belongs to having stopped.
//
// The package knows no leagues: it is fed integers in league order. The same
// integers give the same decisions, whatever the number of workers that made them.
package sequential

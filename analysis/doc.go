// Package analysis says what an experiment has shown: for every strategy and
// every pair of strategies an estimate with the interval that belongs to it,
// and which differences between strategies are more than chance.
//
// An [Accumulator] is fed league records, in any order and on as many
// goroutines as there are accumulators, and keeps integers only: sums,
// sums of products and counts. Its memory does not depend on the number of
// leagues, merging is exact, and the same leagues give the same bytes whatever
// the order. [Accumulator.Estimates] turns the integers into numbers.
//
// Three decisions run through the package; docs/statistics.md explains them to
// a reader who knows no statistics.
//
//   - The unit of replication is the league. Matches of one league are played by
//     strategies that remember each other, so they are dependent; leagues are
//     played by seats made anew, so they are not.
//   - Points are also given as adjusted points: their expectation given both
//     choices, which takes the luck of the draw out and nothing else.
//   - What is compared is compared within leagues (paired), and corrected for
//     how many comparisons are made.
//
// Results are the same to the last bit on every architecture: sums are
// integers, products that are added to something are converted to float64
// first, which forbids fused operations, and values of transcendental
// functions are rounded to fewer digits than any implementation gets wrong.
package analysis

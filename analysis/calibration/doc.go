// Package calibration measures whether the numbers of package analysis keep what
// they promise: how often intervals catch the truth, how often equal players are
// told apart, how often a better one is found.
//
// It needs players whose true values are known. A [Bot] says even with a chance
// that is fixed in each league, so all that is expected of it follows from the
// rules by arithmetic ([Truth]). A [Field] of bots is played many times over, each
// time as a whole experiment ([Measure]); the caller supplies what plays it, which
// is to be the same code that plays real experiments. What has no formula, such as
// the share of titles, is taken from all repetitions together, which know it a
// hundred times better than one does.
//
// A [Row] sets what was measured beside what was promised, with the error that
// comes from having measured a finite number of times.
package calibration

// Package assert judges statements about an experiment, such as
//
//	mine.adjusted > random.adjusted + 0.01
//	"my strat".win_rate >= 0.3
//	mine.technical_losses == 0
//
// by what the experiment has shown. A statement about counts is true or false. A
// statement about estimated quantities holds if the whole interval of its left
// side minus its right side says so, is refuted if the whole interval says the
// opposite, and is undecided otherwise: then these leagues are too few to tell.
// What both sides have in common cancels, because the difference is computed
// within each league. Several statements are corrected for their number, so that
// the chance of judging any of them wrongly is at most one minus the level.
//
// # Grammar
//
//	assertion = sum op sum .                  op = "<" | "<=" | ">" | ">=" | "==" .
//	sum       = product { ("+" | "-") product } .
//	product   = factor { ("*" | "/") factor } .    // at most one factor is no constant
//	factor    = number | player "." measure | "(" sum ")" | ("-" | "+") factor .
//	player    = word | quoted .
//
// A word has letters, digits and the signs _ - # and dots in it, so a minus
// between players wants spaces around it. Other names are quoted, with \" and \\
// for the two characters that need it.
package assert

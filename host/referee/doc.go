// Package referee is the league.v2 referee agent: it registers with a manager,
// plays the matches it is assigned, several at a time, and reports their
// results.
//
// What the messages of a match mean is decided by game.Play; the referee
// carries them, waits, and tries again. Both players are asked at the same
// time, and neither learns anything before both have answered or failed. Like
// the other agents it opens no socket.
//
// # What is journaled, and when
//
// With a data directory, a match is journaled when it is assigned, when both
// sides have chosen or failed (before the draw), when it is finished (before
// anybody hears of the number), and when the manager has acknowledged the
// report. That the league is complete is journaled, too: who starts again after
// that registers for the next. So no crash lets it draw twice, and no result is lost: a referee that
// starts again on the same directory finishes what it had begun and reports
// what it had not. Without one it keeps nothing, and a crash costs its matches,
// which the manager assigns anew.
package referee

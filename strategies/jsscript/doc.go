// Package jsscript runs strategies written in JavaScript, on goja.
//
// # What a script is
//
// A script is a classic script, not a module, in strict mode. It declares
// functions at its top level:
//
//	start(setup)      optional: {id, name, players, rounds, legs}
//	choose(turn)      required: "even", "odd", or the probability of even
//	observe(outcome)  optional: how a match ended
//
// A turn has match_id, round, opponent, role ("PLAYER_A" or "PLAYER_B"), the
// standing so far (played, wins, draws, losses, points), and history, the
// outcomes against this opponent from the oldest to the latest. It is one
// object that is written over for every call, by the host alone: whoever wants
// to keep something of it has to copy it. An outcome has match_id, round, opponent, role,
// choice, opponent_choice, drawn_number, result ("win", "draw", "loss" or
// "technical_loss") and points. It is made anew for every match, may be kept,
// and is itself the entry of the history. What is not known is null; a round
// that is not known is 0. The functions are looked up once, after start.
//
// The first comment gives the title and the description. console.log and its
// sisters, and print, write to the log of the seat: 200 lines of 500 bytes.
//
// # What a script cannot do
//
// Every seat has a runtime of its own, in which the script's top level runs
// anew. It has no files, no network, no modules, no timers and no clock: Date
// and everything else that would tell the time is not defined. Math.random is
// the seat's own stream. No code can be made of strings. Promises and async
// functions are not there, since choose has to answer at once; neither are
// BigInt and its arrays, whose arithmetic cannot be bounded.
//
// # What bounds a call
//
// Time: one watchdog per factory interrupts calls that overrun; neither catch
// nor finally runs then. goja cannot be interrupted while a built-in function
// works, so those that could work for long, or take much memory, are replaced
// by guards that look at sizes first; see guards. Depth: so many calls may be
// under way at once. Everything but the time is an overrun of the budget that
// does not depend on the machine.
//
// A guard costs about a microsecond to put in place, in every seat. So only
// those are put in place that a script can reach, which is read off its syntax
// tree: code cannot be made of strings, so a script that never says "fill", and
// computes no member name that turns out to be "fill", cannot call it. See usage.
//
// No bounds inside a process are complete: objects that a script makes by
// itself are counted by nobody but the watchdog, which looks at the heap of the
// whole process. What is hostile runs in a process of its own.
package jsscript

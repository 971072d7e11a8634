// Package strategies is the contract between the host and the code that
// chooses moves, whatever that code is written in.
//
// There are two lifetimes. A Factory is compiled once and shared. A Strategy
// is one seat of one league: made when the league begins, told what happened
// (Observe), asked for a choice (Choose), and closed when the league ends. It
// is told things once, as they happen, and never handed a growing history.
//
// The life of a seat, in the order the host goes through it:
//
//  1. Factory.New makes the seat and runs the script's start hook. If it
//     fails, the seat forfeits every match of the league.
//  2. Strategy.Choose is called at most once for each match. If it fails or
//     answers with something that is no choice, the match is lost on technical
//     grounds, and the seat goes on. If it overruns its time, instructions or
//     memory, the seat forfeits the rest of the league.
//  3. Strategy.Observe is called at most once for each match, after it is
//     decided. If it fails, the seat forfeits the rest of the league.
//  4. Strategy.Close is called exactly once for every seat that New returned,
//     whatever went before. A seat that has forfeited gets no other call.
//
// Everything a strategy may depend on arrives in Setup, Turn and Outcome.
// Randomness is Setup.Rand, which the host rekeys before every call; there is
// no clock. So the same seed always gives the same moves.
//
// Beyond the rules of the game this package imports only the standard
// library. Nothing here knows that Lua, JavaScript, plugins, HTTP or
// experiments exist.
package strategies

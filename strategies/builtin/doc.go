// Package builtin holds the strategies that come with the lab, written in Go.
//
// What they play for: with a fair draw a match gives each player 1.5 points on
// average if the two choices differ and 1 if they are equal, whoever is who.
// So a strategy that can predict its opponent plays the other parity, and
// nobody is harmed by being predicted. Nothing is gained by predicting the
// draw; two of the strategies try, and are there to show it.
//
// Rules that all of them keep:
//
//   - What is learnt is learnt per opponent and kept over the legs of the
//     league. Only the two that follow the draw mix their opponents.
//   - What cannot be predicted yet is played at random.
//   - Randomness is drawn in Choose alone, so Observe may come at any time.
//   - Learning uses what an Outcome tells, not what Choose once answered: an
//     outcome may be missing, late, or that of a match Choose never saw.
//   - A choice that was not made or not told (game.NoParity) teaches nothing:
//     the meeting is left out of the history of whoever needs that choice.
//   - Floating-point products are rounded before they are added, and library
//     functions that some machines compute in assembly are avoided, so the
//     same seed makes the same moves on every machine.
//
// After the first few matches no call allocates.
package builtin

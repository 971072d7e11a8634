// Package game holds the rules of the even_odd league: the choices and how a
// match is scored, the drawn number and its distribution, the round-robin
// schedule, the standings and their tie-breaks, and the random streams that
// everything else takes its randomness from.
//
// The package is pure. It reads no clock, does no I/O, keeps no state between
// calls and imports only the standard library, so that the live referee, the
// same agents over a loopback, and the batch arena are driven by one set of
// rules and agree to the byte.
package game

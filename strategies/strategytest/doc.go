// Package strategytest checks whatever chooses moves, from a program or from
// a test. It holds two lists.
//
// CheckRuntime is what every runtime must do, whether it runs Lua, JavaScript,
// Go or another process: equal seeds give equal moves, deadlines are kept,
// failures name file, line and operation, the host's memory is out of reach,
// nothing survives from league to league. The runtime under test says in a
// Subject how a handful of behaviours are written in its language.
//
// Check is what can be told of one strategy without knowing how it is written:
// whether it gets through small leagues of every shape it may meet, whether it
// is deterministic, how long it takes.
//
// Both return findings, written for the strategy's author. RunRuntime and Run
// turn them into subtests; the package itself does not import testing, so that
// the program can use it too.
package strategytest

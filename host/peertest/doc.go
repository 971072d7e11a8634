// Package peertest plays complete leagues between the agents of this project
// and programs that behave as those in real leagues do, over sockets.
//
// The programs are written as theirs are: a server that takes JSON, a client
// that posts it, and a table of what is peculiar about each. They share no code
// with the agents. A new kind of peer is a new line in one of the tables.
package peertest

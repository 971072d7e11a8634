// Package peertest plays complete leagues over sockets between the agents of
// this project and foreign agents like those of real leagues.
//
// The foreign agents are written like the originals: a server that takes JSON, a
// client that posts it, and a table of peculiarities. They share no code with
// our agents. A new kind of peer is a new line in one of the tables.
package peertest

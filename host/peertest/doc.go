// Package peertest plays complete leagues over sockets between the agents of
// this project and foreign agents like those of real leagues.
//
// The foreign agents are written like the originals: a server that takes JSON, a
// client that posts it, and its peculiarities. They share no code with our agents.
// Some are styles of one program, in tables or drawn at random; the others, the
// programs of the course, are each written by itself.
package peertest

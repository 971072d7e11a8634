//go:build race

package main

// raced says that the race detector is on, which makes a process some ten times
// as slow.
const raced = true

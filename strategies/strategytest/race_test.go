//go:build race

package strategytest_test

// raced says that the race detector is on, which makes a process some ten times as slow.
const raced = true

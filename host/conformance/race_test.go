//go:build race

package conformance_test

// raced says that the race detector is on, which makes an agent some ten times as slow.
const raced = true

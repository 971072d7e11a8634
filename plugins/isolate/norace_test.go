//go:build !race

package isolate_test

// raced says that the race detector is on.
const raced = false

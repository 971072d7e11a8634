// Package attest is what the tests of analysis need that is not about leagues: how often a
// simulation is repeated, and what a test cannot go on without.
package attest

import "os"

// Repetitions of a simulation in a plain test run, with WHOLE_TESTS (make whole) or with
// LONG_TESTS (make statistics).
func Repetitions(plain, whole, long int) int {
	switch {
	case os.Getenv("LONG_TESTS") != "":
		return long
	case os.Getenv("WHOLE_TESTS") != "":
		return whole
	}
	return plain
}

// Must returns what a test cannot do without, and panics with an error.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// OK ends a test with an error.
func OK(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// One is 1 if something happened, and else 0: what a count grows by.
func One(happened bool) int {
	if happened {
		return 1
	}
	return 0
}

// Package attest is what the tests of analysis need that is not about leagues: how often a
// simulation is repeated, and what a test cannot go on without.
package attest

import (
	"fmt"
	"math"
	"os"
	"strings"
)

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

// TB is the part of a test that these need, of testing and of rapid alike.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// OK ends a test with an error.
func OK(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Near compares a number with what it should be, within an absolute error; what it is about
// is a format.
func Near(t TB, got, want, within float64, about string, args ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %.12g, want %.12g ± %.3g", fmt.Sprintf(about, args...), got, want, within)
	}
}

// Has looks for texts in another.
func Has(t TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%.2000s", part, text)
		}
	}
}

// Fails looks for an error that says a text; what it is about is a format.
func Fails(t TB, err error, says, about string, args ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: error %v, want %q", fmt.Sprintf(about, args...), err, says)
	}
}

// One is 1 if something happened, and else 0: what a count grows by.
func One(happened bool) int {
	if happened {
		return 1
	}
	return 0
}

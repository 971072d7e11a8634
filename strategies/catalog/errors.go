package catalog

import (
	"fmt"
	"strings"
)

// UnknownError is a name or path that stands for no strategy.
type UnknownError struct {
	Target  string
	Nearest string // what may have been meant; may be empty
}

// Error names the target and what may have been meant.
func (e *UnknownError) Error() string {
	what := "strategy"
	if isPath(e.Target) {
		what = "script"
	}
	msg := fmt.Sprintf("no %s %q", what, e.Target)
	if e.Nearest != "" {
		msg += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return msg
}

// AmbiguousError is a name that several strategies have.
type AmbiguousError struct {
	Name    string
	Sources []string // files, or "built-in"; at least two
}

// Error names all that have the name.
func (e *AmbiguousError) Error() string {
	last := len(e.Sources) - 1
	return fmt.Sprintf("%d strategies are called %q: %s and %s; rename all but one of them, or leave them out",
		len(e.Sources), e.Name, strings.Join(e.Sources[:last], ", "), e.Sources[last])
}

// FormatError is a file whose extension says nothing of its language.
type FormatError struct {
	Path  string
	Known []string // extensions, ".lua"
}

// Error names the file and what is known.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s is no script: want a file that ends in %s", e.Path, strings.Join(e.Known, " or "))
}

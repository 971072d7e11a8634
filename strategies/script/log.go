package script

import (
	"context"
	"fmt"
	"log/slog"
)

// MaxLine, in bytes, and MaxLines bound what one seat may print in its league.
const MaxLine, MaxLines = 500, 200

// Log is where one seat of a script prints. It belongs to one goroutine at a time.
type Log struct {
	Script string
	To     *slog.Logger // nil for nobody

	lines int
}

// Print writes a line, as long as the seat may print; it then says once that the rest is
// dropped. A line that may be printed is put into words whether or not anybody listens: that
// may run code of the script, and a league must go the same way with and without a log.
func (l *Log) Print(level slog.Level, words func() string) {
	if l.lines > MaxLines {
		return
	}
	l.lines++
	line := fmt.Sprintf("the script has printed %d lines; the rest is dropped", MaxLines)
	if l.lines <= MaxLines {
		line = words()
	}
	if l.To != nil {
		l.To.LogAttrs(context.Background(), level, line, slog.String("script", l.Script))
	}
}

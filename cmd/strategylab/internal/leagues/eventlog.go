package leagues

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// logger logs for a live command: to stderr or, where that shares a terminal with
// the events, as lines among them, so that no record breaks into a line or a table.
func (e *eventWriter) logger(p *command.Process, level slog.Level) *slog.Logger {
	if e.json || !p.Out.Is() || !p.Err.Is() {
		return p.Logger(level)
	}
	return slog.New(&lineLog{out: e, level: level})
}

// lineLog is a slog.Handler that writes event lines.
type lineLog struct {
	out   *eventWriter
	level slog.Level
	attrs []slog.Attr
}

func (h *lineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *lineLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lineLog{h.out, h.level, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *lineLog) WithGroup(string) slog.Handler { return h }

func (h *lineLog) Handle(_ context.Context, r slog.Record) error {
	level := strings.ToLower(r.Level.String())
	if r.Level == slog.LevelWarn {
		level = "warning"
	}
	var parts []string
	add := func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s %q", a.Key, a.Value))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	text := level + ": " + r.Message
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	h.out.say("%s", text)
	return nil
}

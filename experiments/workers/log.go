package workers

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
)

// logLine is a line of a worker's log, such as the standard error of a plugin.
type logLine struct {
	Level   slog.Level
	Message string
	Attrs   [][2]string
}

// remote is the log of a worker, which the other end writes.
type remote struct {
	out   *frameWriter
	attrs [][2]string
}

// Enabled implements slog.Handler.
func (r remote) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r remote) Handle(_ context.Context, record slog.Record) error {
	line := logLine{record.Level, record.Message, slices.Clone(r.attrs)}
	record.Attrs(func(a slog.Attr) bool {
		line.Attrs = append(line.Attrs, [2]string{a.Key, a.Value.String()})
		return true
	})
	body, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return r.out.write(frameLog, body)
}

// WithAttrs implements slog.Handler.
func (r remote) WithAttrs(attrs []slog.Attr) slog.Handler {
	r.attrs = slices.Clone(r.attrs)
	for _, a := range attrs {
		r.attrs = append(r.attrs, [2]string{a.Key, a.Value.String()})
	}
	return r
}

// WithGroup implements slog.Handler.
func (r remote) WithGroup(string) slog.Handler { return r }

// relay writes a line that came from a worker. One that cannot be read is lost.
func relay(log *slog.Logger, body []byte) {
	var line logLine
	if json.Unmarshal(body, &line) != nil {
		return
	}
	var attrs []slog.Attr
	for _, a := range line.Attrs {
		attrs = append(attrs, slog.String(a[0], a[1]))
	}
	log.LogAttrs(context.Background(), line.Level, line.Message, attrs...)
}

// quiet is a log without warnings: they are for debugging.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return q.Handler.Enabled(ctx, hushed(level))
}

// Handle implements slog.Handler.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = hushed(r.Level)
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }

// hushed returns the level of a line of a script's process.
func hushed(level slog.Level) slog.Level {
	if level == slog.LevelWarn {
		return slog.LevelDebug
	}
	return level
}

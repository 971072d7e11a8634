package mcptools

import (
	"context"
	"log/slog"
)

// quiet returns a logger for the SDK, to which every mistake of a client is an
// error: all that it says is of level Debug here.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(demoted{l.Handler()}) }

type demoted struct{ to slog.Handler }

func (d demoted) Enabled(ctx context.Context, _ slog.Level) bool {
	return d.to.Enabled(ctx, slog.LevelDebug)
}

// Handle leaves out ids of sessions: whoever knows one can use it.
func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, slog.LevelDebug, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "session_id" {
			out.AddAttrs(a)
		}
		return true
	})
	return d.to.Handle(ctx, out)
}

func (d demoted) WithAttrs(attrs []slog.Attr) slog.Handler { return demoted{d.to.WithAttrs(attrs)} }

func (d demoted) WithGroup(name string) slog.Handler { return demoted{d.to.WithGroup(name)} }

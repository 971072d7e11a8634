package player_test

import (
	"context"
	"log/slog"
)

// logTo returns a logger that hands on its messages.
func logTo(tell func(string)) *slog.Logger { return slog.New(teller(tell)) }

type teller func(string)

func (teller) Enabled(context.Context, slog.Level) bool { return true }
func (t teller) Handle(_ context.Context, r slog.Record) error {
	t(r.Message)
	return nil
}
func (t teller) WithAttrs([]slog.Attr) slog.Handler { return t }
func (t teller) WithGroup(string) slog.Handler      { return t }

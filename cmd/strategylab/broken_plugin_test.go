package main

import (
	"context"
	"os"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// exiting is a strategy whose process ends when it is first asked for a choice.
type exiting struct{}

// serveExiting is the whole of such a plugin's main.
func serveExiting() { plugins.Serve(exiting{}) }

func (exiting) Info() strategies.Info {
	return strategies.Info{Name: "exiting", Fingerprint: "1"}
}

func (e exiting) New(context.Context, strategies.Setup) (strategies.Strategy, error) { return e, nil }

func (exiting) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	os.Exit(3)
	return 0, nil
}

func (exiting) Observe(context.Context, *strategies.Outcome) error { return nil }

func (exiting) Close() error { return nil }

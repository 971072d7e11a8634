package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/mcptools"
)

// maxWaiting limits the calls that wait for their turn.
const maxWaiting = 16

type config struct {
	mcpOptions
	lab    lab.Lab
	supply lab.Supply // scripts are isolated
	// data is the folder for reports, created on first use; leagues are read from
	// it as managers store them. Data is what users call it.
	data     string
	folder   lab.Folder // of scripts
	managers []manager  // that league_status queries
	log      *slog.Logger
}

// manager is a league manager that tools may query.
type manager struct {
	name   string // as the model calls it
	url    string
	league string // its name
}

// labTools answers the calls of the tools. It is safe for concurrent use.
type labTools struct {
	cfg    config
	queue  *lab.Queue
	store  *store
	saving sync.Mutex // of scripts
}

func newTools(cfg config) *labTools {
	return &labTools{
		cfg: cfg, queue: lab.NewQueue(cfg.AtOnce, maxWaiting),
		store: &store{folder: cfg.data, name: cfg.Data, keep: cfg.Keep},
	}
}

// tools returns the tools with their schemas, and the full schemas of their answers by
// tool: a tool shows an outline.
func (l *labTools) tools() ([]mcptools.Tool, map[string]json.RawMessage, error) {
	const play = " Takes seconds, reports progress and can be cancelled; it then keeps the finished leagues."
	limits := map[string]int{"runs": l.cfg.MaxRuns}
	b := builder{answers: map[string]json.RawMessage{}}
	add(&b, limits, mcptools.Tool{
		Name: "list_strategies", Title: "List strategies", ReadOnly: true, Idempotent: true,
		Description: "Lists all strategies: built-in ones, scripts in Lua, JavaScript and WebAssembly, and plugins.",
	}, l.list)
	add(&b, limits, mcptools.Tool{
		Name: "show_strategy", Title: "Show a strategy", ReadOnly: true, Idempotent: true,
		Description: "Describes one strategy, with its source if it is a script.",
	}, l.show)
	add(&b, limits, mcptools.Tool{
		Name: "check_strategy", Title: "Check a strategy", ReadOnly: true, Idempotent: true,
		Description: "Runs the source of a strategy, isolated, in small leagues of every shape and says whether it is ready to play; if not, what failed, in which line, and how to fix it. Call it before run_experiment." + play,
	}, l.check)
	add(&b, limits, mcptools.Tool{
		Name: "run_experiment", Title: "Run an experiment",
		Description: "Plays many leagues among strategies (by name or source) and ranks them by adjusted points with confidence intervals. The order within a tier is not settled." + play,
	}, l.run)
	add(&b, limits, mcptools.Tool{
		Name: "compare_strategies", Title: "Compare two strategies",
		Description: "Tests whether one strategy is better than another by playing both in the same leagues against the same opponents: the paired difference in adjusted points with its confidence interval and p-value." + play,
	}, l.compare)
	add(&b, limits, mcptools.Tool{
		Name: "explain_strategy", Title: "Explain a strategy",
		Description: "Plays a strategy against others and explains its score: how it chooses after each outcome, how predictable that makes it, what it missed, which opponents it differs from most and least, and whether it learns." + play,
	}, l.explain)
	add(&b, limits, mcptools.Tool{
		Name: "league_status", Title: "Status of leagues", ReadOnly: true, OpenWorld: len(l.cfg.managers) > 0,
		Description: "Shows the progress and standings of leagues: those of the managers that this server was started with, and those stored in its data folder.",
	}, l.leagues)
	if l.cfg.AllowSave {
		add(&b, limits, mcptools.Tool{
			Name: "save_strategy", Title: "Save a strategy", Destructive: true, Idempotent: true,
			Description: "Writes a script, if it loads, to the folder of scripts, so that other tools find it by name.",
		}, l.save)
	}
	return b.tools, b.answers, errors.Join(b.errs...)
}

type builder struct {
	tools   []mcptools.Tool
	answers map[string]json.RawMessage // full schemas by tool
	errs    []error
}

// add adds a tool with the schemas of its function's input and output.
func add[In, Out any](b *builder, limits map[string]int, t mcptools.Tool, f func(context.Context, In, meter) (Out, error)) {
	var err error
	if t.Input, err = schemaOf[In](limits); err != nil {
		b.errs = append(b.errs, fmt.Errorf("tool %s: %w", t.Name, err))
	}
	if b.answers[t.Name], err = schemaOf[Out](nil); err == nil {
		t.Output, err = outline(b.answers[t.Name])
	}
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("tool %s: %w", t.Name, err))
	}
	t.Call = func(ctx context.Context, c *mcptools.Call) (json.RawMessage, error) {
		in, err := decode[In](c.Input, limits)
		if err != nil {
			return nil, err
		}
		out, err := f(ctx, in, c.Progress)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
	b.tools = append(b.tools, t)
}

// meter receives the progress of a call.
type meter func(done, total float64, message string)

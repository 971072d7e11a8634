package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/mcptools"
)

// Bounds of what is asked for in one call, whatever flags say.
const (
	maxPlayers = 32        // in a field, copies included
	maxSources = 8         // of players that bring one
	maxBytes   = 512 << 10 // of all sources of one call
	maxScripts = 16        // of all sorts, each of which takes a process of its own
	maxMatches = 5_000_000 // of all leagues of one experiment
)

// maxWaiting is how many calls wait for their turn at most.
const maxWaiting = 16

// config says what the tools offer and where they keep things.
type config struct {
	lab    lab.Lab
	supply lab.Supply // scripts are isolated
	token  string     // for managers
	// data is the folder for reports, created on first use; leagues are read from
	// it as managers store them. dataName is what users call it.
	data, dataName string
	// scripts is the folder of scripts; scriptsName is what users call it.
	scripts, scriptsName string
	maxRuns              int           // leagues of one experiment
	maxTime              time.Duration // of one experiment or check
	atOnce               int           // experiments and checks that run in parallel
	keep                 int           // reports; the oldest are removed first
	managers             []manager     // league managers that may be asked
	allowSave            bool          // adds the tool save_strategy
	log                  *slog.Logger  // of what goes wrong and is nobody's mistake
}

// manager is a league manager that may be asked.
type manager struct {
	name   string // as the model calls it
	url    string
	league string // its name
}

// labTools answers the calls of the tools. It is safe for concurrent use.
type labTools struct {
	cfg    config
	queue  *queue
	store  *store
	saving sync.Mutex // of scripts
	known  *described
}

func newTools(cfg config) *labTools {
	return &labTools{
		cfg: cfg, queue: newQueue(cfg.atOnce, maxWaiting), known: newDescribed(),
		store: &store{folder: cfg.data, name: cfg.dataName, keep: cfg.keep},
	}
}

// tools returns the tools with their schemas.
func (l *labTools) tools() ([]mcptools.Tool, error) {
	const play = " Takes seconds; reports progress, can be cancelled, and then keeps what was finished."
	limits := map[string]int{"runs": l.cfg.maxRuns}
	var b builder
	add(&b, limits, mcptools.Tool{
		Name: "list_strategies", Title: "List strategies", ReadOnly: true, Idempotent: true,
		Description: "Lists every strategy that the lab knows: built-in ones, scripts in Lua and JavaScript, and plugins.",
	}, l.list)
	add(&b, limits, mcptools.Tool{
		Name: "show_strategy", Title: "Show a strategy", ReadOnly: true, Idempotent: true,
		Description: "Says what one strategy does, with the source if it is a script.",
	}, l.show)
	add(&b, limits, mcptools.Tool{
		Name: "check_strategy", Title: "Check a strategy", ReadOnly: true, Idempotent: true,
		Description: "Runs the source of a strategy, isolated, through leagues of every shape it may meet, and says whether it is ready to play; if not, what failed, in which line, and what to do. Call it before run_experiment." + play,
	}, l.check)
	add(&b, limits, mcptools.Tool{
		Name: "run_experiment", Title: "Run an experiment",
		Description: "Plays many leagues among strategies (known ones and sources brought along) and ranks them by adjusted points with confidence intervals. Strategies of one tier cannot be told apart." + play,
	}, l.run)
	add(&b, limits, mcptools.Tool{
		Name: "compare_strategies", Title: "Compare two strategies",
		Description: "Says whether one strategy is better than another, by playing both in the same leagues against the same opponents: the paired difference in adjusted points with its confidence interval and p-value." + play,
	}, l.compare)
	add(&b, limits, mcptools.Tool{
		Name: "explain_strategy", Title: "Explain a strategy",
		Description: "Plays a strategy against others and says why it scores what it scores: how it chooses by what happened last, how predictable that makes it, what it missed, whom it goes well with, and whether it learns." + play,
	}, l.explain)
	add(&b, limits, mcptools.Tool{
		Name: "league_status", Title: "Status of leagues", ReadOnly: true, OpenWorld: len(l.cfg.managers) > 0,
		Description: "Says how far leagues are and shows their tables: those of the managers that this server was started with, and those stored in its data folder.",
	}, l.leagues)
	if l.cfg.allowSave {
		add(&b, limits, mcptools.Tool{
			Name: "save_strategy", Title: "Save a strategy", Destructive: true, Idempotent: true,
			Description: "Writes a script that loads into the folder of scripts, so that it can be named from then on.",
		}, l.save)
	}
	return b.tools, errors.Join(b.errs...)
}

// builder gathers tools.
type builder struct {
	tools []mcptools.Tool
	errs  []error
}

// add completes a tool by the schemas of what its function takes and returns.
func add[In, Out any](b *builder, limits map[string]int, t mcptools.Tool, f func(context.Context, In, meter) (Out, error)) {
	var err error
	if t.Input, err = schemaOf[In](limits); err != nil {
		b.errs = append(b.errs, fmt.Errorf("tool %s: %w", t.Name, err))
	}
	if t.Output, err = schemaOf[Out](nil); err != nil {
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

// meter is told how far a call has come.
type meter func(done, total float64, message string)

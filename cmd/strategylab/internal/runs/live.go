package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/web/experiment"
	"github.com/strategylab/strategylab/plugins/subprocess"
)

// livePage serves the page of a run. It is safe for concurrent use.
type livePage struct {
	*experiment.Page
	url  string
	addr string             // at which it listens
	stop context.CancelFunc // ends the server
	gone chan error         // receives when it has ended

	replays *replays // nil until the run is complete
}

// showLive serves the page of a run at an address until it is closed.
func showLive(ctx context.Context, p *command.Process, listen string) (*livePage, error) {
	l := &livePage{Page: experiment.New(p.Now), gone: make(chan error, 1)}
	// The server is that of the agents, for its limits and its checks of Host and Origin.
	server, err := jsonrpc.Listen(ctx, listen, jsonrpc.Config{Other: l, Divert: func(*jsonrpc.Request) bool { return true }})
	if err != nil {
		return nil, fmt.Errorf("serve the page at --listen %s: %w", listen, err)
	}
	l.addr = server.Addr().String()
	l.url = "http://" + l.addr + "/"
	var serving context.Context
	serving, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { l.gone <- server.Serve(serving, nil) }() // everything is diverted to the page
	return l, nil
}

// again returns the flags that serve the page at the same address, where open pages find
// it again; none without a page.
func (l *livePage) again() string {
	if l == nil {
		return ""
	}
	return " --web --listen " + words.ShellWord(l.addr)
}

// close ends the server.
func (l *livePage) close() error {
	l.stop()
	err := <-l.gone
	if l.replays != nil {
		l.replays.close()
	}
	return err
}

// follow shows what the run has shown so far. It is called after each league.
func (l *livePage) follow(so lab.Sofar) {
	l.Follow(func() experiment.State {
		memory, processes := subprocess.Resident()
		return experiment.State{Progress: so.Progress(), Document: so.Document(), Workers: so.Workers, Memory: memory, Processes: processes}
	})
}

// finish shows the report of the complete run in a folder.
func (l *livePage) finish(ctx context.Context, out *experimentRun, folder string, in page.Input) (err error) {
	if l.replays, err = newReplays(ctx, out, folder, in); err == nil {
		l.Finish(l.replays)
	}
	return err
}

// served plays the experiment while a page shows it, and then keeps the report there until
// the user stops.
func (e *experimentRun) served(ctx context.Context) (err error) {
	if e.live, err = showLive(ctx, e.p, e.opt.Listen); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.live.close()) }()
	e.p.Say("watch at %s", e.live.url)
	if err = e.run(ctx); e.live.Finished() && ctx.Err() == nil {
		e.note("the report stays at %s; Ctrl-C ends it", e.live.url)
		<-ctx.Done()
	}
	return err
}

package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/web/experiment"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
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
		e.p.Note("the report stays at %s; Ctrl-C ends it", e.live.url)
		<-ctx.Done()
	}
	return err
}

// replays serves the report of a complete run, with pages of its leagues and of their
// matches, which are replayed when somebody asks. It is safe for concurrent use.
type replays struct {
	ctx    context.Context // of the command
	out    *experimentRun
	folder string // of the run, as the user wrote it
	in     page.Input
	report []byte

	mux       *http.ServeMux
	turn      chan struct{} // taken by the one who replays
	cat       *catalog.Catalog
	factories []strategies.Factory // nil until the first replay
}

// newReplays makes the report with links to its leagues.
func newReplays(ctx context.Context, out *experimentRun, folder string, in page.Input) (*replays, error) {
	in.Replays = true
	var b bytes.Buffer
	if err := page.Write(&b, lab.Dated(out.p.Path(folder), in)); err != nil {
		return nil, err
	}
	r := &replays{ctx: ctx, out: out, folder: folder, in: in, report: b.Bytes(), mux: http.NewServeMux(), turn: make(chan struct{}, 1)}
	r.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { r.write(w, r.report, nil) })
	r.mux.HandleFunc("GET /leagues", r.find)
	r.mux.HandleFunc("GET /leagues/{league}/{$}", r.serve)
	r.mux.HandleFunc("GET /leagues/{league}/{match}", r.serve)
	return r, nil
}

// close releases the code that replays have loaded, when the last request has ended.
func (r *replays) close() {
	if r.cat != nil {
		r.cat.Close()
	}
}

// ServeHTTP implements http.Handler.
func (r *replays) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.mux.ServeHTTP(w, req) }

// find answers the form of the report that asks for a league by its number.
func (r *replays) find(w http.ResponseWriter, req *http.Request) {
	text := req.URL.Query().Get("number")
	n, err := strconv.Atoi(text)
	if err != nil {
		http.Error(w, fmt.Sprintf("replay: league %q is not a number", text), http.StatusBadRequest)
		return
	}
	http.Redirect(w, req, fmt.Sprintf("leagues/%d/", n), http.StatusSeeOther)
}

func (r *replays) serve(w http.ResponseWriter, req *http.Request) {
	league, err := strconv.Atoi(req.PathValue("league"))
	if err != nil {
		http.NotFound(w, req)
		return
	}
	html, err := r.replay(req.Context(), league, req.PathValue("match"))
	r.write(w, html, err)
}

// write answers with a page, or with what went wrong.
func (r *replays) write(w http.ResponseWriter, html []byte, err error) {
	if err != nil {
		status := http.StatusInternalServerError
		if errors.As(err, new(*lab.InputError)) {
			status = http.StatusNotFound
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Security-Policy", page.Policy()+"; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(html) // a reader that is gone is no error
}

// replay returns the page of a league or, if it is named, of a match, which is replayed.
func (r *replays) replay(ctx context.Context, league int, id string) ([]byte, error) {
	first := id
	if id == "" {
		first = "R1M1" // every league has it
	}
	plan, recorded, pairing, err := recordedMatch(r.out.p.Path(r.folder), league, first)
	if err != nil {
		return nil, err
	}
	shown := page.Replay{Plan: plan, League: recorded, Leagues: r.in.Run.Estimates.Leagues, Match: id}
	if id != "" {
		said := &arena.Transcript{Match: id}
		again, err := r.play(ctx, said, league)
		if err != nil {
			return nil, err
		}
		for _, line := range said.Lines {
			shown.Said = append(shown.Said, page.Said{Player: line.Player, Text: line.Text})
		}
		if differs := differences(recorded, &again, pairing); differs != "" {
			shown.Differs = "The " + differs + "."
		}
	}
	var b bytes.Buffer
	err = page.WriteReplay(&b, shown)
	return b.Bytes(), err
}

// play replays a league for its transcript, one at a time.
func (r *replays) play(ctx context.Context, said *arena.Transcript, league int) (results.League, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return results.League{}, ctx.Err()
	}
	plan := r.in.Run.Plan
	if r.factories == nil {
		cat, err := r.out.load(r.ctx)
		if err != nil {
			return results.League{}, err
		}
		factories, err := r.out.codeOf(cat, r.folder).All(ctx, plan)
		if err != nil {
			cat.Close()
			return results.League{}, fmt.Errorf("replay %s: %w", r.folder, err)
		}
		r.cat, r.factories = cat, factories
	}
	return arena.PlayLeague(ctx, plan, said.Wrap(r.factories), league)
}

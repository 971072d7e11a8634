package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
)

// UnknownRunError says that a broker has no run of a name.
type UnknownRunError struct {
	Run  string
	Runs []string // that it has
}

// Error names the runs that there are.
func (e *UnknownRunError) Error() string {
	there := "it has none"
	if len(e.Runs) > 0 {
		there = "it has " + plain(strings.Join(e.Runs, ", "), 10*mostText)
	}
	return fmt.Sprintf("the broker has no run %q; %s", e.Run, there)
}

// FindRun returns the job of a run that is on the broker, and its sources by field index,
// to continue it without the folder of its experiment. The plan is the whole one.
func (l *Link) FindRun(ctx context.Context, run string) (job Job, sources map[int][]byte, err error) {
	a, err := l.announced(ctx, run)
	if err != nil {
		return job, nil, err
	}
	content, err := l.get(ctx, a.Job, MaxJob)
	if err != nil {
		return job, nil, fmt.Errorf("run %s: %w", run, err)
	}
	if err := json.Unmarshal(content, &job); err != nil {
		return job, nil, fmt.Errorf("run %s: read the job: %w", run, err)
	}
	if err := job.Plan.Validate(); err != nil {
		return job, nil, fmt.Errorf("run %s: read the job: %w", run, err)
	}
	if !strings.HasPrefix(run, nameOfRun(job.Plan)) || len(job.Sources) != len(job.Plan.Field) {
		return job, nil, fmt.Errorf("run %s: read the job: somebody has put another in its place on the broker", run)
	}
	sources = make(map[int][]byte)
	for field, name := range job.Sources {
		if name == "" {
			continue
		}
		if sources[field], err = l.get(ctx, name, DefaultMaxCode); err != nil {
			return job, nil, fmt.Errorf("run %s: %w", run, err)
		}
	}
	return job, sources, nil
}

// announced returns the announcement of a run that the broker keeps.
func (l *Link) announced(ctx context.Context, run string) (a announcement, err error) {
	kept, err := l.stored(ctx)
	if err != nil {
		return a, err
	}
	a, known := kept[run]
	if !known {
		return a, &UnknownRunError{run, slices.Sorted(maps.Keys(kept))}
	}
	return a, nil
}

// stored returns the announcements that the broker keeps, by run.
func (l *Link) stored(ctx context.Context) (map[string]announcement, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	runs, err := l.js.KeyValue(ctx, l.store("runs"))
	if err != nil {
		return nil, l.explain(err)
	}
	lister, err := runs.ListKeys(ctx)
	if err != nil {
		return nil, l.explain(err)
	}
	kept := make(map[string]announcement)
	for name := range lister.Keys() {
		var a announcement
		value, err := runs.Get(ctx, name)
		if err == nil && len(kept) < mostMet && json.Unmarshal(value.Value(), &a) == nil && a.Run == name {
			kept[name] = a
		}
	}
	return kept, nil
}

// Survey is what a broker and those who are connected to it say about themselves.
type Survey struct {
	Workers []Presence  `json:"workers"`
	Runs    []RunStatus `json:"runs"`
}

// Survey asks everybody, and waits for the answers for a while. Runs that the broker keeps
// and of which nobody answers count as abandoned.
func (l *Link) Survey(ctx context.Context, wait time.Duration) (Survey, error) {
	var mu sync.Mutex
	seen, played := make(map[string]Presence), make(map[string]RunStatus)
	workers, err := l.conn.Subscribe(l.subject("worker", "*"), func(m *nats.Msg) {
		p, ok := hearPresence(m)
		mu.Lock()
		defer mu.Unlock()
		if ok && (p.Leaves || len(seen) < mostMet) {
			p.Chunks, p.Playing = p.Chunks[:min(len(p.Chunks), mostShown)], p.Playing[:min(len(p.Playing), mostShown)]
			if seen[p.ID] = p; p.Leaves {
				delete(seen, p.ID)
			}
		}
	})
	if err != nil {
		return Survey{}, l.explain(err)
	}
	defer func() { _ = workers.Unsubscribe() }()
	runs, err := l.conn.Subscribe(l.subject("run", "*"), func(m *nats.Msg) {
		a, ok := hearRun(m)
		mu.Lock()
		defer mu.Unlock()
		if ok && !a.Over && len(played) < mostMet {
			played[a.Run] = a.Status
		}
	})
	if err != nil {
		return Survey{}, l.explain(err)
	}
	defer func() { _ = runs.Unsubscribe() }()
	l.ping()
	if err := l.conn.FlushTimeout(apiTime); err != nil && !errors.Is(err, nats.ErrTimeout) {
		return Survey{}, fmt.Errorf("ask the cluster: %w", err)
	}
	if !pause(ctx, wait) {
		return Survey{}, context.Cause(ctx)
	}
	kept, err := l.stored(ctx)
	if err != nil {
		return Survey{}, err
	}
	mu.Lock()
	defer mu.Unlock()
	for run, a := range kept {
		if _, ok := played[run]; !ok {
			played[run] = RunStatus{Run: plain(run, mostText), Version: plain(a.Version, mostText), Of: max(0, a.Status.Of), Abandoned: true}
		}
	}
	var s Survey
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		s.Workers = append(s.Workers, seen[id])
	}
	for _, run := range slices.Sorted(maps.Keys(played)) {
		s.Runs = append(s.Runs, played[run])
	}
	return s, nil
}

// ErrPlayed says that another experiment plays a run.
var ErrPlayed = errors.New("another experiment is playing it; stop that first")

// Unplayed returns ErrPlayed if an experiment that plays a run answers within a while.
func (l *Link) Unplayed(ctx context.Context, run string, wait time.Duration) error {
	s, err := l.Survey(ctx, wait)
	if err != nil {
		return err
	}
	for _, r := range s.Runs {
		if r.Run == run && !r.Abandoned {
			return fmt.Errorf("run %s: %w", run, ErrPlayed)
		}
	}
	return nil
}

// WriteText writes workers and runs as tables, as they are at a time.
func (s Survey) WriteText(w io.Writer, now time.Time) error {
	if len(s.Workers) == 0 {
		fmt.Fprintln(w, "no workers")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Workers) > 0 {
		fmt.Fprintln(t, "worker\tcores\tchunks\tleagues\tper second\theard\tversion")
	}
	for _, x := range s.Workers {
		fmt.Fprintf(t, "%s (%s)\t%d\t%d\t%d\t%.0f\t%v ago\t%s\n", x.Name, x.ID, x.Cores, x.InFlight, x.Leagues, x.Rate,
			now.Sub(x.Heard).Round(100*time.Millisecond), shortVersion(x.Version))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Workers {
		for _, run := range slices.Sorted(maps.Keys(x.Refuses)) {
			fmt.Fprintf(w, "%s (%s) cannot play run %s: %s\n", x.Name, x.ID, run, x.Refuses[run])
		}
	}
	if len(s.Runs) == 0 {
		fmt.Fprintln(w, "no runs")
		return nil
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\tleagues\tper second\tleft\twaiting\tin flight\tredelivered\tfailed")
	for _, x := range s.Runs {
		left := "?"
		if d := x.Left(); d > 0 {
			left = d.Round(time.Second).String()
		}
		if x.Abandoned {
			fmt.Fprintf(t, "%s\t?/%d\tno experiment plays it\n", x.Run, x.Of)
			continue
		}
		fmt.Fprintf(t, "%s\t%d/%d\t%.0f\t%s\t%d\t%d\t%d\t%d\n", x.Run, x.Leagues, x.Of, x.Rate, left, x.Waiting, x.InFlight, x.Redelivered, x.Failed)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Runs {
		if x.Abandoned {
			fmt.Fprintf(w, "to continue a run that no experiment plays: strategylab experiment --resume %s --cluster URL; to remove it: strategylab cluster remove %s\n", x.Run, x.Run)
			break
		}
	}
	return nil
}

// shortVersion returns the first part of a version.
func shortVersion(text string) string {
	version, rest, _ := strings.Cut(text, ", ")
	revision, _, _ := strings.Cut(rest, ", ")
	if word, ok := strings.CutPrefix(revision, "revision "); ok && !strings.HasPrefix(word, "unknown") {
		version += " " + word[:min(8, len(word))]
	}
	return version
}

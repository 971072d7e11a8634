package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/disk"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Edits supplies the versions of scripts that are edited while they play live. It is
// safe for concurrent use; what Of returns is not.
type Edits struct {
	lab    Lab
	supply Supply

	mu     sync.Mutex // one check at a time
	judged map[string]error
}

// NewEdits returns the edits of the scripts of a supply.
func (l Lab) NewEdits(s Supply) *Edits {
	return &Edits{lab: l, supply: s, judged: make(map[string]error)}
}

// Of returns the versions of a strategy of a catalog, nil unless it is a script.
func (e *Edits) Of(cat *catalog.Catalog, info strategies.Info, f strategies.Factory) player.Versions {
	if !info.Kind.Script() {
		return nil
	}
	v := &versions{of: e, info: info, last: info.Fingerprint}
	v.watch = cat.WatchRefs([]catalog.Ref{{Target: info.Source, Copies: 1}})
	if script := scriptOf(f); script != nil {
		v.source = script.Source
	} else if source, _, err := disk.ReadFile(e.lab.Path(info.Source), catalog.LargestSource); err == nil && (results.Entrant{Fingerprint: info.Fingerprint}).Played(source) {
		v.source = source
	}
	return v
}

type versions struct {
	of     *Edits
	info   strategies.Info // of the first version
	source []byte          // of that, too; nil if it was edited since it was loaded
	watch  *catalog.Watch
	last   string // fingerprint of the version that was supplied last
	behind bool   // the file counts as edited
}

// Source implements player.Versions.
func (v *versions) Source() []byte { return v.source }

// Load implements player.Versions. The loader bounds its time.
func (v *versions) Load(source []byte) (strategies.Factory, error) {
	f, err := v.of.load(context.Background(), v.info, source)
	if err == nil {
		v.last, v.behind = f.Info().Fingerprint, true
	}
	return f, err
}

// Next implements player.Versions. A version plays like the first one: in a process of
// its own or in this one.
func (v *versions) Next(ctx context.Context) (player.Version, error) {
	for {
		if !v.behind {
			if _, err := Await(ctx, v.watch); err != nil {
				return player.Version{}, err
			}
		}
		v.behind = false
		if ctx.Err() != nil {
			return player.Version{}, ctx.Err()
		}
		source, fingerprint, err := v.read(ctx)
		if err == nil && fingerprint == v.last {
			continue // it was saved without a change, or the change was taken back
		}
		if err != nil {
			v.last = ""
			return player.Version{}, err
		}
		v.last = fingerprint
		f, err := v.of.load(ctx, v.info, source)
		return player.Version{Factory: f, Source: source}, err
	}
}

// read reads the file and checks what is in it now.
func (v *versions) read(ctx context.Context) (source []byte, fingerprint string, err error) {
	e := v.of
	cat, err := catalog.Load(ctx, catalog.Config{
		Dir: e.lab.Dir, Scripts: e.supply.Scripts, Limits: e.supply.Limits, Lazy: true,
		Builtins: []strategies.Factory{}, Formats: e.formats(e.lab.Exe != ""),
	})
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, cat.Close()) }()
	defer func() { v.watch = cat.WatchRefs([]catalog.Ref{{Target: v.info.Source, Copies: 1}}) }() // before it is closed
	entry, err := cat.Resolve(ctx, v.info.Source)
	if err != nil {
		return nil, "", err
	}
	fingerprint = entry.Info.Fingerprint
	if script := scriptOf(entry.Factory); script != nil {
		source = script.Source
	} else if source, _, err = disk.ReadFile(e.lab.Path(v.info.Source), catalog.LargestSource); err != nil {
		return nil, "", err
	}
	if fingerprint != v.last {
		err = e.check(ctx, entry)
	}
	return source, fingerprint, err
}

// check checks an edited script as 'strategies check' does, once for all its copies.
// The error is the first that it finds, with its file and line.
func (e *Edits) check(ctx context.Context, entry catalog.Entry) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := entry.Info.Source + "\x00" + entry.Info.Fingerprint
	if err, known := e.judged[key]; known {
		return err
	}
	verdict, err := e.lab.Check(ctx, entry, Checking{Seed: CheckSeed, Limits: e.supply.Limits, Isolated: e.lab.Exe != "", Compared: e.lab.Exe != ""})
	if err != nil {
		return fmt.Errorf("check %s: %w", entry.Info.Source, err)
	}
	err = refusal(entry.Info, verdict)
	e.judged[key] = err
	return err
}

// refusal is why a verdict keeps a script from playing; nil if it does not.
func refusal(info strategies.Info, v Verdict) error {
	if v.Ready || len(v.Findings) == 0 {
		return nil
	}
	f := strategytest.Urgent(v.Findings)[0]
	where := f.Where
	if where == "" {
		where = info.Source
	}
	if f.Hint != "" {
		f.What += " (" + f.Hint + ")"
	}
	return fmt.Errorf("%s: it does not pass 'strategylab strategies check': %s", where, f.What)
}

// load loads a version as the first one was loaded.
func (e *Edits) load(ctx context.Context, info strategies.Info, source []byte) (strategies.Factory, error) {
	return loadFormat(e.formats(e.supply.Isolate), info.Kind, func(f catalog.Format) (strategies.Factory, error) {
		return f.Load(ctx, info.Name, info.Source, source, e.supply.Limits)
	})
}

func (e *Edits) formats(isolated bool) []catalog.Format {
	if isolated {
		return e.lab.isolatedFormats(e.supply.Log)
	}
	return e.lab.bounded(e.lab.Formats(), e.supply.Log)
}

// settling is how often watched files are looked at; a file that has not changed
// between two looks is complete, since some editors write it in several steps.
const settling = 200 * time.Millisecond

// Await returns the changes of watched scripts when they are complete, and none when
// ctx has ended.
func Await(ctx context.Context, w *catalog.Watch) ([]catalog.Change, error) {
	tick := time.NewTicker(settling)
	defer tick.Stop()
	var all []catalog.Change
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-tick.C:
		}
		changes, err := w.Changes()
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 && len(all) > 0 {
			return all, nil
		}
		for _, c := range changes {
			all = slices.DeleteFunc(all, func(before catalog.Change) bool { return before.Path == c.Path })
			all = append(all, c)
		}
	}
}

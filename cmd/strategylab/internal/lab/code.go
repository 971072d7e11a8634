package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/params"
)

// ErrChanged says that the code of a strategy differs from what its leagues were
// played with, and that the run has not kept that.
var ErrChanged = errors.New("has changed since the leagues were played")

// Code finds the code that a recorded run was played with.
type Code struct {
	Lab     Lab
	Catalog *catalog.Catalog // owns the factories
	Folder  string           // of the run, as the user wrote it
	// Note says that a file of today differs from what the run was played with; once
	// for each file. It may be nil.
	Note func(format string, args ...any)

	noted map[string]bool
}

// Of finds the strategy of a recorded player: today's, if its code is the same, or
// else the script that the run has kept. Without either the error wraps ErrChanged
// or is that of today's file.
func (c *Code) Of(ctx context.Context, e results.Entrant) (strategies.Factory, error) {
	target := e.Source
	if target == "" || e.Kind == string(strategies.Plugin) { // one program may play several
		target = e.Ref
	} else if _, values := params.Split(e.Ref); values != "" {
		target = params.Join(target, values)
	}
	today, err := c.Catalog.Resolve(ctx, target)
	if err == nil && today.Info.Fingerprint == e.Fingerprint {
		return today.Factory, nil
	}
	if source, kept := results.ReadSource(c.Lab.Path(c.Folder), e); kept == nil {
		then, failed := c.Catalog.Recorded(ctx, e.Source, source)
		if failed != nil {
			return nil, fmt.Errorf("%s: the script that the run has kept: %w", e.Name, failed)
		}
		c.say(e, err)
		return then.Factory, nil
	}
	if err != nil {
		return nil, NameError(fmt.Errorf("%s: %w", e.Name, err))
	}
	return nil, fmt.Errorf("%s: the code of %s %w", e.Name, target, ErrChanged)
}

// say notes that the kept script plays, because today's file differs or, if err is
// not nil, cannot be used.
func (c *Code) say(e results.Entrant, err error) {
	if c.Note == nil || c.noted[e.Source] {
		return
	}
	if c.noted == nil {
		c.noted = make(map[string]bool)
	}
	c.noted[e.Source] = true
	why := "has changed since the leagues were played"
	if err != nil {
		why = "cannot be used any more"
	}
	file, _ := results.SourceFile(c.Folder, e) // it has just been read
	c.Note("%s %s: playing the version of the run, %s", e.Source, why, file)
}

// All finds the strategies of a recorded plan.
func (c *Code) All(ctx context.Context, plan results.Plan) ([]strategies.Factory, error) {
	factories := make([]strategies.Factory, len(plan.Field))
	for i, e := range plan.Field {
		var err error
		if factories[i], err = c.Of(ctx, e); errors.Is(err, ErrChanged) {
			return nil, &InputError{err, fmt.Sprintf("restore the file, or start a new run with --seed %d --out DIR", plan.Seed)}
		} else if err != nil {
			return nil, err
		}
	}
	return factories, nil
}

// keepSources writes the scripts of a plan to the folder of its run. A script whose
// file is not what plays, because it was edited meanwhile or is not there, is left out:
// then the run cannot be played again after an edit.
func (s Session) keepSources(plan results.Plan, folder string) error {
	for _, e := range plan.Field {
		file := s.Lab.Path(e.Source)
		if !strategies.Kind(e.Kind).Script() || filepath.Dir(file) == filepath.Join(folder, results.SourcesFolder) {
			continue
		}
		source, err := results.ReadSource(s.Origin, e)
		if err != nil {
			source, _, err = disk.ReadFile(file, catalog.LargestSource)
		}
		if _, values := params.Split(e.Ref); err == nil && !e.Played(source) {
			source, err = catalog.WithValues(strategies.Kind(e.Kind), source, values)
		}
		if err != nil || !e.Played(source) {
			continue
		}
		if err := results.KeepSource(folder, e, source); err != nil {
			return err
		}
	}
	return nil
}

// Edited returns the sources of the scripts and plugins that changed since the last
// run in a folder of run folders; if none did, those that changed before it, and so
// on. Without a run, and where nothing ever changed, it is those that do not come with the
// program.
//
// A strategy has changed if its fingerprint in the run differs, or if it did not play
// and its file is newer than the run.
func (l Lab) Edited(runs string, entries []catalog.Entry) []string {
	codes := map[string]code{}
	var sources []string
	var own []string
	for _, e := range entries {
		if c, ok := l.codeOf(e); ok {
			source := filepath.Clean(e.Info.Source)
			codes[source] = c
			sources = append(sources, source)
			if !catalog.Shipped(e.Info.Kind, e.Info.Name, c.fingerprint) {
				own = append(own, source)
			}
		}
	}
	for _, run := range results.Recent(l.Path(runs)) {
		plan, err := run.Plan()
		if err != nil {
			continue // another program's, or one that is being written
		}
		edited := slices.DeleteFunc(slices.Clone(sources), func(source string) bool {
			return !codes[source].changed(source, plan, run.Written)
		})
		if len(edited) > 0 {
			return edited
		}
	}
	return own
}

type code struct {
	fingerprint string
	modified    time.Time
}

// codeOf reads the code of a script or a plugin. A script need not load.
func (l Lab) codeOf(e catalog.Entry) (code, bool) {
	if e.Info.Source == "" {
		return code{}, false
	}
	file := l.Path(e.Info.Source)
	info, err := os.Stat(file)
	if err != nil {
		return code{}, false
	}
	c := code{fingerprint: e.Info.Fingerprint, modified: info.ModTime()}
	if e.Info.Kind.Script() && c.fingerprint == "" { // not loaded
		source, _, err := disk.ReadFile(file, catalog.LargestSource)
		if err != nil {
			return code{}, false
		}
		c.fingerprint = fmt.Sprintf("%x", sha256.Sum256(source))
	}
	return c, true
}

func (c code) changed(source string, plan results.Plan, written time.Time) bool {
	for _, f := range plan.Field {
		if f.Source != "" && filepath.Clean(f.Source) == source {
			return f.Fingerprint != c.fingerprint
		}
	}
	return c.modified.After(written)
}

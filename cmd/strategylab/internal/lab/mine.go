package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

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

// code is what identifies the code of a strategy.
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
		sum := sha256.Sum256(source)
		c.fingerprint = hex.EncodeToString(sum[:])
	}
	return c, true
}

// changed compares the code with that of a run.
func (c code) changed(source string, plan results.Plan, written time.Time) bool {
	for _, f := range plan.Field {
		if f.Source != "" && filepath.Clean(f.Source) == source {
			return f.Fingerprint != c.fingerprint
		}
	}
	return c.modified.After(written)
}

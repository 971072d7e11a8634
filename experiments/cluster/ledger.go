package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// LedgerFile is the file of a Ledger in the folder of a run.
const LedgerFile = "cluster.ledger"

// Ledger keeps who has played which leagues of a run, in a file beside its records, so that
// nothing of a worker stays that is caught, also after a resumption. A Coordinator guards
// it. A nil Ledger keeps nothing.
type Ledger struct {
	file   *os.File
	spans  []span // of recorded leagues, in order
	caught map[string]Caught
}

// Caught is a worker whose records were wrong.
type Caught struct {
	Name, Why string
	Replayed  int // recorded leagues that were removed because of it

	cut bool // they are removed
}

// span is who has played the leagues from one on, up to the next span.
type span struct {
	first        int
	worker, name string
}

// ledgerLine is a line of the file: a worker has played the leagues from First on; or it
// was caught; or the leagues from First on were removed because it was.
type ledgerLine struct {
	First   int    `json:"first"`
	Worker  string `json:"worker"`
	Name    string `json:"name,omitempty"`
	Caught  string `json:"caught,omitempty"`  // why
	Removed *int   `json:"removed,omitempty"` // leagues
}

// OpenLedger opens the ledger of a run with this many recorded leagues, and returns how
// many of them stay: the caller removes the others from the records, and then calls Cut.
// Leagues of which the file says nothing count as those of whoever was caught. The caller
// closes the ledger.
func OpenLedger(path string, recorded int) (l *Ledger, keep int, err error) {
	l = &Ledger{caught: make(map[string]Caught)}
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, 0, fmt.Errorf("open ledger: %w", err)
	}
	if err := l.load(path, recorded); err != nil {
		return nil, 0, errors.Join(err, l.file.Close())
	}
	keep = recorded
	for id, c := range l.caught {
		if c.cut {
			continue
		}
		if len(l.spans) == 0 || l.spans[0].first > 0 {
			keep = 0
		}
		for _, s := range l.spans {
			if s.worker == id {
				keep = min(keep, s.first)
			}
		}
	}
	return l, keep, nil
}

// load reads the file, and drops a line that was being written when its writer was killed.
func (l *Ledger) load(path string, recorded int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("open ledger: %w", err)
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if err := l.file.Truncate(int64(end)); err != nil {
		return fmt.Errorf("open ledger: %w", err)
	}
	for row := range bytes.Lines(text[:end]) {
		var x ledgerLine
		if err := json.Unmarshal(row, &x); err != nil {
			return fmt.Errorf("read ledger %s: %w; restore it from a copy, or play the run again in another folder", path, err)
		}
		c := l.caught[x.Worker]
		switch {
		case x.Removed != nil:
			c.Replayed, c.cut = *x.Removed, true
			l.caught[x.Worker] = c
			l.drop(x.First)
		case x.Caught != "":
			l.caught[x.Worker] = Caught{Name: x.Name, Why: x.Caught}
		default:
			l.drop(x.First) // they were never recorded
			l.spans = append(l.spans, span{x.First, x.Worker, x.Name})
		}
	}
	l.drop(recorded)
	return nil
}

// drop forgets the spans from a league on.
func (l *Ledger) drop(from int) {
	for n := len(l.spans); n > 0 && l.spans[n-1].first >= from; n = len(l.spans) {
		l.spans = l.spans[:n-1]
	}
}

// Cut notes that only this many recorded leagues are left of that many.
func (l *Ledger) Cut(keep, recorded int) error {
	for id, c := range l.caught {
		if c.cut {
			continue
		}
		removed := recorded - keep
		if err := l.write(ledgerLine{First: keep, Worker: id, Removed: &removed}); err != nil {
			return err
		}
		c.Replayed, c.cut = removed, true
		l.caught[id] = c
	}
	l.drop(keep)
	return nil
}

// HasLedger reports whether a run has a ledger.
func HasLedger(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (l *Ledger) write(x ledgerLine) error {
	row, err := json.Marshal(x)
	if err == nil {
		_, err = l.file.Write(append(row, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// add notes who has played the leagues from one on, before they are recorded.
func (l *Ledger) add(s span) error {
	if l == nil || len(l.spans) > 0 && l.spans[len(l.spans)-1].worker == s.worker {
		return nil
	}
	l.spans = append(l.spans, s)
	return l.write(ledgerLine{First: s.first, Worker: s.worker, Name: s.name})
}

// played reports whether a worker has played recorded leagues.
func (l *Ledger) played(worker string) bool {
	if l == nil {
		return false
	}
	for _, s := range l.spans {
		if s.worker == worker {
			return true
		}
	}
	return false
}

// distrust notes that a worker was caught, on the disk.
func (l *Ledger) distrust(worker, name, why string) error {
	if l == nil {
		return nil
	}
	l.caught[worker] = Caught{Name: name, Why: why}
	if err := l.write(ledgerLine{Worker: worker, Name: name, Caught: why}); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close closes the file.
func (l *Ledger) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

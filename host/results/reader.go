package results

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

// Reader reads a run directory, also while another process writes it. It is
// for one goroutine at a time.
type Reader struct {
	plan Plan
	file *os.File
	tear *Tear
}

// OpenReader opens the run in a directory for reading.
func OpenReader(path string) (*Reader, error) {
	plan, err := readPlan(filepath.Join(path, PlanFile))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(path, LeaguesFile))
	if err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	return &Reader{plan: plan, file: f}, nil
}

// Plan returns the plan.
func (r *Reader) Plan() Plan { return r.plan }

// Leagues yields the recorded leagues in order, in memory that does not grow
// with their number. A league is valid until the next one. It ends before an
// end that is not, or not yet, written whole; see Torn. After an error nothing
// more is yielded.
func (r *Reader) Leagues() iter.Seq2[*League, error] {
	return func(yield func(*League, error) bool) {
		if err := r.each(yield); err != nil {
			yield(nil, fmt.Errorf("%s: %w", r.file.Name(), err))
		}
	}
}

func (r *Reader) each(yield func(*League, error) bool) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	_, r.tear, err = survey(r.file, info.Size(), r.plan, func(l *League) bool { return yield(l, nil) })
	return err
}

// Torn returns the unsound end that the last complete pass of Leagues met, or
// nil.
func (r *Reader) Torn() *Tear { return r.tear }

// Close closes the files.
func (r *Reader) Close() error { return r.file.Close() }

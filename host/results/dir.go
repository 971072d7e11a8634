package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/strategylab/strategylab/host/disk"
)

// Files of a run folder.
const (
	PlanFile    = "plan.json"
	LeaguesFile = "leagues.bin"
	SummaryFile = "summary.json"
	lockFile    = ".lock"
)

// ErrExists reports a folder that already contains a run.
var ErrExists = errors.New("already holds a run; resume it, or write to another directory")

// Dir is a run folder opened for writing, by one process at a time. It is not safe for concurrent
// use. Flush passes appended leagues to the operating system, Close syncs them to disk; a process
// killed before loses only leagues that a resumed run plays again.
type Dir struct {
	path    string
	plan    Plan
	lock    *disk.Lock
	file    *os.File
	buf     *bufio.Writer
	enc     *Encoder
	leagues int
	tear    *Tear
	err     error // of the first failed Append or Flush
}

// Create makes a run folder for a plan, with its parents. It fails with ErrExists if the folder
// contains a run, unless that is the same one without records and did not come to its end, and with
// disk.ErrLocked while another process writes to it.
func Create(path string, plan Plan) (*Dir, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	d := &Dir{path: path, plan: plan}
	return d.opened(d.create())
}

func (d *Dir) create() (err error) {
	if err := d.acquire(); err != nil {
		return err
	}
	if d.unfinished() {
		return d.writeJSON(PlanFile, d.plan)
	}
	for _, name := range []string{PlanFile, LeaguesFile} {
		if _, err := os.Lstat(filepath.Join(d.path, name)); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = ErrExists
			}
			return fmt.Errorf("create run: %s: %w", d.path, err)
		}
	}
	if err := d.writeJSON(PlanFile, d.plan); err != nil || d.plan.Records == RecordsNone {
		return err
	}
	return d.begin()
}

// Open opens a run to continue it, or returns ErrNoRecords. It cuts off an incomplete end
// (see Tear); other damage is an error.
func Open(path string) (*Dir, error) {
	d := &Dir{path: path}
	return d.opened(d.open())
}

func (d *Dir) open() (err error) {
	if d.plan, err = readPlan(filepath.Join(d.path, PlanFile)); err != nil {
		return err
	}
	if err := d.acquire(); err != nil {
		return err
	}
	// Again: the plan could change before we held the lock.
	if d.plan, err = readPlan(filepath.Join(d.path, PlanFile)); err != nil {
		return err
	}
	if d.plan.Records == RecordsNone {
		return ErrNoRecords
	}
	d.file, err = os.OpenFile(filepath.Join(d.path, LeaguesFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return d.begin() // killed right after the plan was written
	}
	if err != nil {
		return fmt.Errorf("open run: %w", err)
	}
	return d.resume()
}

// acquire locks the folder for writing.
func (d *Dir) acquire() (err error) {
	d.lock, err = disk.Acquire(filepath.Join(d.path, lockFile))
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}

// opened returns d, or closes its files after an error.
func (d *Dir) opened(err error) (*Dir, error) {
	if err == nil {
		return d, nil
	}
	if d.file != nil {
		err = errors.Join(err, d.file.Close())
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Release())
	}
	return nil, err
}

// begin starts an empty leagues.bin.
func (d *Dir) begin() error {
	h, err := HeaderOf(d.plan)
	if err != nil {
		return err
	}
	if d.file == nil {
		d.file, err = os.OpenFile(filepath.Join(d.path, LeaguesFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("create run: %w", err)
		}
	}
	d.buf = bufio.NewWriterSize(d.file, 1<<16)
	if d.enc, err = NewEncoder(d.buf, h); err != nil {
		return err
	}
	return d.Flush()
}

// resume seeks to the end of an existing leagues.bin.
func (d *Dir) resume() error {
	info, err := d.file.Stat()
	if err != nil {
		return fmt.Errorf("open run: %w", err)
	}
	h, err := HeaderOf(d.plan)
	if err != nil {
		return err
	}
	dec, tear, err := survey(d.file, info.Size(), d.plan, nil)
	if errors.Is(err, io.ErrUnexpectedEOF) { // killed while it wrote the header, or damage
		var header bytes.Buffer
		if _, eerr := NewEncoder(&header, h); eerr != nil {
			return eerr
		}
		if info.Size() >= int64(header.Len()) {
			return d.unreadable(fmt.Errorf("%w; restore the file from a copy", err))
		}
		if err := d.file.Truncate(0); err != nil {
			return fmt.Errorf("open run: %w", err)
		}
		return d.begin()
	}
	if err != nil {
		return d.unreadable(err)
	}
	if tear != nil {
		if err := d.file.Truncate(tear.Offset); err != nil {
			return fmt.Errorf("repair %s: %w", d.file.Name(), err)
		}
	}
	if _, err := d.file.Seek(dec.Offset(), io.SeekStart); err != nil {
		return fmt.Errorf("open run: %w", err)
	}
	first, _ := d.plan.Span()
	d.leagues, d.tear = dec.next-first, tear
	d.buf = bufio.NewWriterSize(d.file, 1<<16)
	d.enc, err = resumeEncoder(d.buf, h)
	return err
}

func (d *Dir) unreadable(err error) error {
	return fmt.Errorf("%s: %w", filepath.Join(d.path, LeaguesFile), err)
}

// Plan returns the plan.
func (d *Dir) Plan() Plan { return d.plan }

// Len returns the number of recorded leagues.
func (d *Dir) Len() int { return d.leagues }

// Repaired returns the end that Open cut off, or nil.
func (d *Dir) Repaired() *Tear { return d.tear }

// Extend replaces the plan of the run. The new plan may differ only in Runs, or the
// error wraps ErrPlanDiffers, and may not ask for fewer leagues than recorded. A run
// that was complete, and has no stopping rule, counts as looked at.
func (d *Dir) Extend(plan Plan) error {
	plan.Looks = nil
	if err := plan.Validate(); err != nil {
		return err
	}
	if err := d.plan.SameLeagues(plan); err != nil {
		return fmt.Errorf("resume %s: %w", d.path, err)
	}
	if d.plan.Shard != nil && plan.Runs != d.plan.Runs {
		return fmt.Errorf("resume %s: %v cannot be extended: all shards have the same number of leagues", d.path, d.plan.Shard)
	}
	if plan.Runs < d.leagues {
		return fmt.Errorf("resume %s: %d runs requested, but %d are recorded", d.path, plan.Runs, d.leagues)
	}
	if plan.Runs == d.plan.Runs {
		return nil
	}
	plan.Stop, plan.Confirms, plan.Looks = d.plan.Stop, d.plan.Confirms, d.plan.Looks
	if plan.Stop == nil && d.leagues == d.plan.Runs {
		plan.Looks = append(slices.Clone(plan.Looks), d.leagues)
	}
	if err := d.writeJSON(PlanFile, plan); err != nil {
		return err
	}
	d.plan = plan
	return nil
}

// Rewind removes all recorded leagues but the first ones, so that they are played again.
func (d *Dir) Rewind(leagues int) error {
	if leagues >= d.leagues || d.file == nil {
		return nil
	}
	if err := d.Flush(); err != nil {
		return err
	}
	size, err := d.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return d.unreadable(err)
	}
	first, _ := d.plan.Span()
	end := int64(0)
	if leagues > 0 {
		dec, _, err := survey(d.file, size, d.plan, func(l *League) bool { return l.Index < first+leagues-1 })
		if err != nil {
			return d.unreadable(err)
		}
		end = dec.Offset()
	}
	err = d.file.Truncate(end)
	if err == nil {
		_, err = d.file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("rewind run: %w", err)
	}
	if d.leagues = leagues; leagues == 0 {
		return d.begin()
	}
	return nil
}

// Append records the next league. After a failure it accepts no more; Open repairs the file.
func (d *Dir) Append(l *League) error {
	if d.err != nil {
		return d.err
	}
	if first, end := d.plan.Span(); l.Index != first+d.leagues || l.Index >= end {
		return fmt.Errorf("record league %d: want league %d of %d", l.Index, first+d.leagues, end)
	}
	if d.enc != nil {
		if err := d.enc.Encode(l); err != nil {
			d.err = fmt.Errorf("%s: %w", d.path, err)
			return d.err
		}
	}
	d.leagues++
	return nil
}

// Flush passes appended leagues to the operating system.
func (d *Dir) Flush() error {
	if d.err == nil && d.buf != nil {
		if err := d.buf.Flush(); err != nil {
			d.err = fmt.Errorf("%s: %w", d.path, err)
		}
	}
	return d.err
}

// Leagues yields the recorded leagues in order. A league is valid until the next
// one. An error ends the sequence. Do not append meanwhile.
func (d *Dir) Leagues() iter.Seq2[*League, error] {
	return func(yield func(*League, error) bool) {
		if err := d.Flush(); err != nil {
			yield(nil, err)
			return
		}
		if d.file == nil {
			return // a run without records
		}
		end, err := d.file.Seek(0, io.SeekCurrent)
		if err != nil {
			yield(nil, d.unreadable(err))
			return
		}
		_, _, err = survey(d.file, end, d.plan, func(l *League) bool { return yield(l, nil) })
		if err != nil {
			yield(nil, d.unreadable(err))
		}
	}
}

// Summary replaces summary.json by v.
func (d *Dir) Summary(v any) error { return d.writeJSON(SummaryFile, v) }

// writeJSON replaces a file of the folder by v.
func (d *Dir) writeJSON(name string, v any) error {
	return disk.WriteJSON(filepath.Join(d.path, name), v, 0o644)
}

// Close syncs everything to disk and unlocks the folder.
func (d *Dir) Close() error {
	if d.file == nil {
		return d.lock.Release()
	}
	err := d.Flush()
	if err == nil {
		err = d.file.Sync()
	}
	return errors.Join(err, d.file.Close(), d.lock.Release())
}

// Reader reads a run folder, even while another process writes it. It is not safe
// for concurrent use.
type Reader struct {
	plan Plan
	file *os.File
	tear *Tear
}

// OpenReader opens a whole run for reading.
func OpenReader(path string) (*Reader, error) {
	r, err := OpenShard(path)
	if err == nil && r.plan.Shard != nil {
		s := r.plan.Shard
		err = fmt.Errorf("holds %v of a run, with leagues %d to %d only; merge all shards and read the merged run", s, s.First, s.End-1)
		return nil, errors.Join(err, r.Close())
	}
	return r, err
}

// OpenShard opens a run or a shard of one for reading. The error is ErrNoRecords if it
// keeps no leagues.
func OpenShard(path string) (*Reader, error) {
	plan, err := readPlan(filepath.Join(path, PlanFile))
	if err != nil {
		return nil, err
	}
	if plan.Records == RecordsNone {
		return nil, ErrNoRecords
	}
	f, err := os.Open(filepath.Join(path, LeaguesFile))
	if err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	return &Reader{plan: plan, file: f}, nil
}

// Plan returns the plan.
func (r *Reader) Plan() Plan { return r.plan }

// Leagues yields the recorded leagues in order, in constant memory. A league is valid until the
// next one. An incomplete end is left out. An error ends the sequence.
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

// Close closes the files.
func (r *Reader) Close() error { return r.file.Close() }

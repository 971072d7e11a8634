package command

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/results"
)

// Progress draws a progress bar for a run. It is a sink that counts leagues.
type Progress struct {
	w       io.Writer
	columns int
	now     func() time.Time
	total   int
	from    int // leagues recorded before this run
	began   time.Time
	done    atomic.Int64

	quit, gone chan struct{}
}

// StartProgress draws a bar until Stop is called. With a nil writer it only
// counts.
func StartProgress(w io.Writer, columns int, now func() time.Time, from, total int) *Progress {
	p := &Progress{w: w, columns: columns, now: now, total: total, from: from, began: now(),
		quit: make(chan struct{}), gone: make(chan struct{})}
	p.done.Store(int64(from))
	if w == nil {
		close(p.gone)
		return p
	}
	go p.draw()
	return p
}

// Append counts a league.
func (p *Progress) Append(*results.League) error {
	p.done.Add(1)
	return nil
}

// Stop removes the bar and returns when nothing more will be drawn.
func (p *Progress) Stop() {
	close(p.quit)
	<-p.gone
}

func (p *Progress) draw() {
	defer close(p.gone)
	const often = 150 * time.Millisecond
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(p.w, "\r%s", p.line(int(p.done.Load()), p.now().Sub(p.began)))
		case <-p.quit:
			fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.columns-1))
			return
		}
	}
}

// line returns the bar after done leagues. It is one column short of the terminal,
// so that no terminal wraps it.
func (p *Progress) line(done int, elapsed time.Duration) string {
	right := fmt.Sprintf(" %d/%d leagues", done, p.total)
	if played := done - p.from; played > 0 && elapsed > 0 {
		rate := float64(played) / elapsed.Seconds()
		left := time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(time.Second)
		right += fmt.Sprintf("  %.0f/s  %v left", rate, left)
	}
	width := p.columns - 1 - len(right) - 2
	if width < 5 {
		return fmt.Sprintf("%-*.*s", p.columns-1, p.columns-1, strings.TrimSpace(right))
	}
	full := width * done / max(1, p.total)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", width-full) + "]" + right
}

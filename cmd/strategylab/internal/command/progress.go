package command

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/results"
)

// Progress draws a progress bar for a run, and above it what the run has shown so far.
// It is a sink that counts leagues.
type Progress struct {
	w      io.Writer
	clean  func(string) string // makes a line fit for the terminal
	term   Terminal
	now    func() time.Time
	total  int
	from   int  // leagues recorded before this run
	atMost bool // the run may end earlier
	began  time.Time
	done   atomic.Int64

	wanted atomic.Bool // a frame
	frame  atomic.Pointer[func() []string]
	first  chan struct{} // receives when there is a first frame
	drawn  int           // lines above the bar; of the goroutine that draws

	quit, gone chan struct{}
}

// StartProgress draws a bar on stderr until Stop is called. Where that is no terminal, and
// with --quiet, it only counts. A run of atMost leagues may end before the last of total.
func (p *Process) StartProgress(from, total int, atMost bool) *Progress {
	var bar io.Writer
	if p.Err.Is() && !p.Quiet {
		bar = p.Stderr
	}
	return startProgress(bar, p.Err, p.Now, from, total, atMost)
}

func startProgress(w io.Writer, term Terminal, now func() time.Time, from, total int, atMost bool) *Progress {
	p := &Progress{w: w, term: term, now: now, total: total, from: from, atMost: atMost, began: now(),
		first: make(chan struct{}, 1), quit: make(chan struct{}), gone: make(chan struct{})}
	p.done.Store(int64(from))
	if w == nil {
		close(p.gone)
		return p
	}
	p.w, p.clean = controls(w)
	p.wanted.Store(term.Cursor)
	go p.draw()
	return p
}

// Append counts a league.
func (p *Progress) Append(*results.League) error {
	p.done.Add(1)
	return nil
}

// Wanted reports whether the lines above the bar should be renewed. It costs next to
// nothing, so it can be asked after every league.
func (p *Progress) Wanted() bool { return p.wanted.Load() }

// Renew replaces the lines above the bar, which the goroutine that draws computes. The
// first time they are drawn at once.
func (p *Progress) Renew(lines func() []string) {
	p.wanted.Store(false)
	if p.frame.Swap(&lines) == nil {
		p.first <- struct{}{}
	}
}

// Stop removes all lines and returns when nothing more will be drawn.
func (p *Progress) Stop() {
	close(p.quit)
	<-p.gone
}

func (p *Progress) draw() {
	defer close(p.gone)
	const often = 250 * time.Millisecond
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.redraw()
		case <-p.first:
			p.redraw()
		case <-p.quit:
			select {
			case <-p.first: // every run shows its standings once
				p.redraw()
			default:
			}
			if p.term.Cursor {
				fmt.Fprint(p.w, p.back()+"\x1b[J")
			} else {
				fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.term.Columns-1))
			}
			return
		}
	}
}

// back moves the cursor to the first line that was drawn.
func (p *Progress) back() string {
	if p.drawn == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", p.drawn)
}

// redraw writes all lines in one piece, over the old ones.
func (p *Progress) redraw() {
	bar := p.line(int(p.done.Load()), p.now().Sub(p.began))
	if !p.term.Cursor {
		fmt.Fprint(p.w, "\r"+bar)
		return
	}
	text := p.back()
	if frame := p.frame.Load(); frame != nil {
		lines := (*frame)()
		for _, line := range lines {
			text += p.clean(line) + "\x1b[K\n"
		}
		p.drawn = len(lines)
	}
	fmt.Fprint(p.w, text+bar+"\x1b[J")
	p.wanted.Store(true)
}

// Steps shows the steps of a command on stderr, unless --quiet is set: on a terminal each in
// the place of the one before, elsewhere each on a line once the command takes longer than
// a second. Call end after the last one.
func (p *Process) Steps() (show func(step string), end func()) {
	began, drawn := p.Now(), false
	show = func(step string) {
		switch {
		case p.Quiet:
		case p.Err.Cursor:
			fmt.Fprintf(p.Stderr, "\r%.*s\x1b[K", max(p.Err.Columns-1, 0), step)
			drawn = true
		case p.Now().Sub(began) > time.Second:
			p.Say("%s", step)
		}
	}
	return show, func() {
		if drawn {
			fmt.Fprint(p.Stderr, "\r\x1b[K")
		}
	}
}

// line returns the bar after done leagues. It is one column short of the terminal,
// so that no terminal wraps it.
func (p *Progress) line(done int, elapsed time.Duration) string {
	right := fmt.Sprintf(" %d/%d leagues", done, p.total)
	if p.atMost {
		right = fmt.Sprintf(" %d of at most %d leagues", done, p.total)
	}
	if played := done - p.from; played > 0 && elapsed > 0 {
		rate := float64(played) / elapsed.Seconds()
		right += fmt.Sprintf("  %.0f/s", rate)
		if !p.atMost {
			right += fmt.Sprintf("  %v left", time.Duration(float64(p.total-done)/rate*float64(time.Second)).Round(time.Second))
		}
	}
	width := p.term.Columns - 1 - len(right) - 2
	if width < 5 {
		return fmt.Sprintf("%-*.*s", p.term.Columns-1, p.term.Columns-1, strings.TrimSpace(right))
	}
	full := width * done / max(1, p.total)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", width-full) + "]" + right
}

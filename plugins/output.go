package plugins

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// Limits on what a plugin may log through its standard output and error in
// burstTime. The lines beyond burstLines, and the trace after a panic, go to the
// debug log; one line says how many and how they end. Beyond mostBurst they are
// dropped.
const (
	burstLines = 20
	mostBurst  = 500
	burstTime  = 10 * time.Second
)

// output logs what a process writes, line by line. It is safe for concurrent use.
type output struct {
	log *slog.Logger
	own bool // the process is this program: it writes only why it ends

	mu      sync.Mutex
	since   time.Time
	lines   int
	chatter int // lines of go-plugin about itself
	hidden  int // not logged as warnings since that was last reported
	last    string
	trace   bool   // what follows is the trace after verdict
	verdict string // the first line of Go's last words
}

// verdicts begin the first line of what Go's runtime writes when a program ends badly.
var verdicts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(panic|fatal error|runtime/cgo|SIG[A-Z]+): ") })

// chatter matches what go-plugin's server writes about itself unless it is told otherwise: a
// line of its logger below a warning, as JSON or as text.
var chatter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\{"@level":"(trace|debug|info)",|\S+ \[(TRACE|DEBUG|INFO)\] )`)
})

// read logs r until it ends.
func (o *output) read(r io.Reader) {
	buffered := bufio.NewReaderSize(r, 4096)
	for {
		line, more, err := buffered.ReadLine()
		if err != nil {
			return
		}
		text := string(line[:min(len(line), 2*mostText)])
		for more && err == nil { // the rest of a long line
			_, more, err = buffered.ReadLine()
		}
		o.line(text)
	}
}

// Write implements io.Writer for chunks that mostly are whole lines.
func (o *output) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p[:min(len(p), 1<<16)])) {
		o.line(strings.TrimRight(line, "\n"))
	}
	return len(p), nil
}

func (o *output) line(text string) {
	text = strategies.OneLine(text, mostText)
	if text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.Sub(o.since) > burstTime {
		o.since, o.lines, o.chatter, o.trace = now, 0, 0, false
		o.logHidden()
	}
	if chatter().MatchString(text) {
		if o.chatter++; o.chatter <= mostBurst {
			o.log.Debug(text)
		}
		return
	}
	trace := o.trace
	if o.verdict == "" && verdicts().MatchString(text) {
		o.verdict, o.trace = text, true
	}
	o.last = text
	o.lines++
	switch {
	case o.own:
		o.log.Debug(text)
		return
	case !trace && o.lines <= burstLines:
		o.log.Warn(text)
		return
	case o.lines <= mostBurst:
		o.log.Debug(text)
	}
	o.hidden++
}

// logHidden reports the number of lines that were no warnings.
func (o *output) logHidden() {
	if o.hidden > 0 {
		o.log.Warn("plugin output shortened", "lines", o.hidden, "last", o.last)
		o.hidden = 0
	}
}

// end reports the lines hidden last.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logHidden()
}

// reason returns the line that best explains the end of a process, or "".
func (o *output) reason() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(o.verdict, o.last)
}

// Limits on what strategies print during one step; the rest is dropped.
const (
	mostLines = 1000
	mostText  = 500 // bytes of a line
)

// logLines collects what the seats of a group print.
type logLines struct {
	mu    sync.Mutex
	lines []*pb.LogLine
}

func (l *logLines) take() []*pb.LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// logHandler is the log handler of a seat in a plugin.
type logHandler struct {
	lines *logLines
	seat  uint32
	attrs []string // key, value, ...
	group string
}

func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	line := &pb.LogLine{Seat: h.seat, Level: int32(r.Level), Text: strategies.Clip(r.Message, mostText), Attributes: slices.Clone(h.attrs)}
	r.Attrs(func(a slog.Attr) bool {
		line.Attributes = h.append(line.Attributes, a)
		return true
	})
	h.lines.mu.Lock()
	defer h.lines.mu.Unlock()
	if len(h.lines.lines) < mostLines {
		h.lines.lines = append(h.lines.lines, line)
	}
	return nil
}

func (h *logHandler) append(to []string, a slog.Attr) []string {
	return append(to, h.group+a.Key, strategies.Clip(a.Value.String(), mostText))
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		c.attrs = c.append(c.attrs, a)
	}
	return &c
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	c := *h
	c.group += name + "."
	return &c
}

// forward writes a line from a plugin to the log of its seat.
func forward(log *slog.Logger, line *pb.LogLine) {
	if log == nil {
		return
	}
	var attrs []slog.Attr
	for i := 0; i+1 < len(line.GetAttributes()); i += 2 {
		attrs = append(attrs, slog.String(
			strategies.OneLine(line.GetAttributes()[i], mostText), strategies.Clip(line.GetAttributes()[i+1], mostText)))
	}
	log.LogAttrs(context.Background(), slog.Level(line.GetLevel()), strategies.Clip(line.GetText(), mostText), attrs...)
}

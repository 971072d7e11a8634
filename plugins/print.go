package plugins

import (
	"context"
	"log/slog"
	"sync"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// What strategies may print during one step goes to the host; the rest is
// dropped.
const (
	mostLines = 1000
	mostText  = 500 // bytes of a line
)

// logLines gathers what the seats of a group print.
type logLines struct {
	mu    sync.Mutex
	lines []*pb.LogLine
}

func (l *logLines) add(line *pb.LogLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) < mostLines {
		l.lines = append(l.lines, line)
	}
}

func (l *logLines) take() []*pb.LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// logHandler is where a seat in a plugin logs to.
type logHandler struct {
	lines *logLines
	seat  uint32
	attrs []string // key, value, ...
	group string
}

func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	line := &pb.LogLine{
		Seat: h.seat, Level: int32(r.Level), Text: strategies.Clip(r.Message, mostText),
		Attributes: append([]string(nil), h.attrs...),
	}
	r.Attrs(func(a slog.Attr) bool {
		line.Attributes = h.append(line.Attributes, a)
		return true
	})
	h.lines.add(line)
	return nil
}

func (h *logHandler) append(to []string, a slog.Attr) []string {
	return append(to, h.group+a.Key, strategies.Clip(a.Value.String(), mostText))
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append([]string(nil), h.attrs...)
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

// printed hands a line from a plugin to the log of its seat.
func printed(log *slog.Logger, line *pb.LogLine) {
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

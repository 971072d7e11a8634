package leagues

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/host/web/wall"
)

// eventWriter prints events, one per line. It is safe for concurrent use.
type eventWriter struct {
	mu   sync.Mutex
	w    io.Writer
	json bool
}

// write prints an event as JSON or as text; an empty text prints nothing.
func (e *eventWriter) write(v any, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.json {
		// a write error shows up at the end
		_ = json.NewEncoder(e.w).Encode(v)
		return
	}
	if text != "" {
		fmt.Fprintln(e.w, text)
	}
}

// say prints a line for people; JSON output has none.
func (e *eventWriter) say(format string, args ...any) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.w, format+"\n", args...)
}

func (e *eventWriter) table(standings []league.Standing) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	screen.Table(e.w, standings)
}

func (l *live) managed(e manager.Event) {
	l.trouble.Managed(e)
	if l.wall != nil {
		l.wall.Managed(e)
	}
	if e.Kind == manager.MatchesProgressed {
		return // for pages: too much to read
	}
	l.out.write(e, screen.Managed(e, l.trouble.Knows))
	if e.Kind == manager.LeagueCompleted {
		l.out.table(e.Standings)
	}
}

// reported prints an event of a referee. reason says why a player lost a match by technical
// loss.
func (l *live) reported(e referee.Event, reason string) {
	if text := screen.Refereed(e, reason); text != "" {
		l.out.write(e, text)
	}
}

// conducted prints the events of a league's referees that its manager does not report.
func (l *live) conducted(e referee.Event) {
	reason := ""
	if e.Kind == referee.Forfeited {
		reason = screen.Reason(e.Fault, l.trouble.Forfeited(e))
	}
	if l.wall != nil {
		l.wall.Refereed(e, reason)
	}
	switch e.Kind {
	case referee.Checked, referee.Retried, referee.Forfeited, referee.Absent, referee.Alarm:
		l.reported(e, reason)
	}
}

// logger logs for a live command: to stderr or, where that shares a terminal with
// the events, as lines among them, so that no record breaks into a line or a table.
func (e *eventWriter) logger(p *command.Process, level slog.Level) *slog.Logger {
	if e.json || !p.Out.Is() || !p.Err.Is() {
		return p.Logger(level)
	}
	return slog.New(&lineLog{out: e, level: level})
}

type lineLog struct {
	out   *eventWriter
	level slog.Level
	attrs []slog.Attr
}

func (h *lineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *lineLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lineLog{h.out, h.level, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *lineLog) WithGroup(string) slog.Handler { return h }

func (h *lineLog) Handle(_ context.Context, r slog.Record) error {
	level := strings.ToLower(r.Level.String())
	if r.Level == slog.LevelWarn {
		level = "warning"
	}
	var parts []string
	add := func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s %q", a.Key, a.Value))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	text := level + ": " + r.Message
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	h.out.say("%s", text)
	return nil
}

func (l *live) hang(hosted *host.League) {
	hosted.Manager.Progress = true
	draw := hosted.Manager.Draw
	l.wall = wall.New(wall.Config{
		Draw: draw, Theme: page.Theme(), Organised: hosted.Manager.AdminToken != "", Judge: func(played []league.Match, d league.Draws) string { return screen.Fairness(draw, played, d) },
		Proofs: screen.Draws,
	})
	hosted.Web = func(m *manager.Manager) http.Handler { return l.wall.Serve(m) }
}

// invite shows on the wall how others take part, and prints where the wall is. Far says
// that url is reached from other machines.
func (l *live) invite(url, join string, far bool) {
	if l.wall == nil {
		return
	}
	j := wall.Join{URL: url, Command: join}
	if far {
		j.Page = home(url)
	}
	l.wall.Open(j)
	l.invited = true
	l.out.say("watch at:            %s", home(url))
}

// pageFile is the page of a league that is over, in the folder of its journal.
const pageFile = "page.html"

// keepPage leaves the page of a league that has just ended for those who come later, or
// says how it is kept.
func (l *live) keepPage(league string) {
	if l.data == "" {
		if l.invited {
			l.out.say("the page ends with the host: --stay keeps it up, and with --data-dir it stays as a file")
		}
		return
	}
	file := filepath.Join(filepath.Dir(manager.JournalName(l.data, league)), pageFile)
	html, err := l.wall.Still()
	if err == nil {
		err = disk.WriteFile(file, html, 0o600)
	}
	if err != nil {
		l.log.Warn("keep the page of the league", "error", err)
		return
	}
	l.out.say("its page stays in:   %s", file)
}

// home is the address of the page beside an endpoint.
func home(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	u.Path = "/"
	return u.String()
}

package leagues

import (
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/host/web/wall"
)

// hang gives a league its wall.
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

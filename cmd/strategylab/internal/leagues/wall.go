package leagues

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/audit"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
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
		Draw: draw, Theme: page.Theme(), Organised: hosted.Manager.AdminToken != "", Judge: func(played []league.Match, d league.Draws) string { return fairnessOf(draw, played, d) },
		Proofs: screen.Draws,
	})
	hosted.Web = func(m *manager.Manager) http.Handler { return l.wall.Serve(m) }
}

// fairnessOf says whether the draws of a league follow the rules. Numbers that players
// verified need no test, and the manager does not know which these are.
func fairnessOf(draw game.Draw, played []league.Match, proven league.Draws) string {
	var draws []judge.Draw
	for _, m := range played {
		if m.Drawn && proven.Verified == 0 {
			draws = append(draws, judge.Draw{Number: m.Number, Players: m.Players, Choices: [2]string{m.Choices[0].String(), m.Choices[1].String()}})
		}
	}
	if len(draws) == 0 {
		return ""
	}
	_, verdict := audit.FairDraws(draw, draws)
	return fmt.Sprintf("The draws were %s; %s tested.", verdict, words.Plain.Plural(int64(len(draws)), "draw"))
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

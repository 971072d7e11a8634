// Package wall shows a league to those who watch it: a page that the host of the league
// serves beside its endpoint, with the way to join, the matches as they are played, the
// table and the podium.
//
// It reads events and snapshots of the agents, which do not know of it. A spectator sees
// no token, no key and no endpoint, and a choice only when the match is over.
package wall

import (
	"embed"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/web"
)

//go:embed page.html wall.css wall.js
var files embed.FS

// Config describes a wall.
type Config struct {
	// Draw is what the referees draw by: game.FairDraw, if it is the zero value.
	Draw game.Draw
	// Theme defines the colours, as CSS variables.
	Theme string
	// Organised says that the league has an admin token, so that its organiser can
	// control it from the page.
	Organised bool
	// Judge says at the end, in a sentence, whether the draws were fair; nil for nothing.
	Judge func([]league.Match, league.Draws) string
	// Proofs says in a sentence what the players said of the drawn numbers; nil, or an
	// empty sentence, for nothing.
	Proofs func(league.Draws) string
}

// Wall is the page of one league. Its methods are safe for concurrent use.
type Wall struct {
	cfg    Config
	page   *web.Page
	league *manager.Manager // set by Serve

	mu       sync.Mutex
	join     Join
	counted  []bool    // matches, by their index in the schedule
	cross    []int     // points of a seat against another one, by both seats; nil for large fields
	adjusted []float64 // points without the luck of the draw, by seat
	before   map[string]int
	places   map[string]int // at the end of the last round, by player; before: of the one before
	sides    map[string]*[2]side
	troubles []trouble
	edits    map[string]edit // of scripts, by player
	verdict  string          // of Judge, once
	referees map[string]bool // whether one of which something was heard tells who is asked and who has chosen
}

// Join is how others take part.
type Join struct {
	URL     string // of the manager
	Command string
	Page    string // URL of the wall for other machines; empty if they cannot reach it
}

// side is how far one player of a match is.
type side struct {
	asked, chose bool
	retried      bool
	failed       bool // and that is counted
	deadline     time.Time
}

// edit is the last edit of a player's script.
type edit struct {
	times, round int
	version      string
}

// trouble is what went wrong for a player.
type trouble struct {
	player, text string
	times        int
}

// New returns the wall of a league that is about to be hosted.
func New(cfg Config) *Wall {
	if cfg.Draw.String() == "" {
		cfg.Draw = game.FairDraw()
	}
	w := &Wall{cfg: cfg, sides: make(map[string]*[2]side), edits: make(map[string]edit), referees: make(map[string]bool)}
	style, _ := files.ReadFile("wall.css") // is embedded
	code, _ := files.ReadFile("wall.js")
	w.page = web.New(web.Config{
		Templates: template.Must(template.New("wall").ParseFS(files, "page.html")),
		Parts:     []string{"heading", "stage", "matches", "table", "cross", "troubles", "referees", "news", "players", "pacing"},
		Fixed:     cfg.Organised,
		Data:      func() any { return w.view() },
		Assets:    map[string][]byte{"wall.css": append([]byte(cfg.Theme), style...), "wall.js": code},
	})
	return w
}

// Serve returns what serves the page of a league. It is called once, before the league
// has events to hand on.
func (w *Wall) Serve(m *manager.Manager) http.Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.league = m
	for _, one := range m.Results() {
		w.count(&one)
	}
	return w.page
}

// Still returns the page as it is now, to be kept as a file.
func (w *Wall) Still() ([]byte, error) { return w.page.Still("wall.css") }

// Open says how others take part.
func (w *Wall) Open(j Join) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.join = j
	w.page.Touch()
}

// Managed takes an event of the manager.
func (w *Wall) Managed(e manager.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case manager.MatchReported:
		w.count(e.Match)
		if w.sides[e.Match.ID] == nil && e.Match.Status() != protocol.StatusTechnicalLoss {
			if _, heard := w.referees[e.Match.RefereeID]; !heard {
				w.referees[e.Match.RefereeID] = false
			}
		}
	case manager.MatchesProgressed:
		w.referees[e.Agent] = true
		for i := range e.Progress {
			w.progress(&e.Progress[i])
		}
	case manager.StrategyEdited:
		w.edits[e.Agent] = edit{times: w.edits[e.Agent].times + 1, round: e.Round, version: e.Version[:min(len(e.Version), 8)]}
	case manager.StrategyFailed:
		w.explain(e.Agent, e.Error)
	case manager.RoundCompleted:
		w.before, w.places = w.places, make(map[string]int, len(e.Standings))
		for _, s := range e.Standings {
			w.places[s.PlayerID] = s.Rank
		}
		clear(w.sides)
	}
	w.page.Touch()
}

// Refereed takes an event of a referee of this process. For a technical loss, reason says
// what went wrong.
func (w *Wall) Refereed(e referee.Event, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case referee.Asked:
		w.referees[e.Referee] = true
		s := w.side(e)
		s.asked, s.deadline = true, e.Deadline
	case referee.Chose:
		w.side(e).chose = true
	case referee.Retried:
		w.side(e).retried = true
	case referee.Forfeited:
		w.fault(e.Player, reason)
	default:
		return
	}
	w.page.Touch()
}

// side returns the side of a match that an event is about. The lock is held.
func (w *Wall) side(e referee.Event) *side {
	both := w.both(e.Match)
	if e.Player == e.Players[1] {
		return &both[1]
	}
	return &both[0]
}

// both returns the sides of a match. The lock is held.
func (w *Wall) both(match string) *[2]side {
	both := w.sides[match]
	if both == nil {
		both = new([2]side)
		w.sides[match] = both
	}
	return both
}

// progress notes what a referee of another process says of a match; it may repeat itself,
// and nothing that it has said is taken back. The lock is held.
func (w *Wall) progress(p *manager.Progress) {
	both := w.both(p.Match)
	for i := range both {
		s := &both[i]
		s.asked, s.chose, s.retried = s.asked || p.Asked[i], s.chose || p.Chosen[i], s.retried || p.Retried[i]
		if !p.Deadline.IsZero() {
			s.deadline = p.Deadline
		}
		if p.Faults[i] != "" && !s.failed {
			s.failed = true
			w.fault(p.Players[i], p.Faults[i])
		}
	}
}

// maxTroubles is how many players with troubles are shown.
const maxTroubles = 8

// fault notes a technical loss. The lock is held.
func (w *Wall) fault(player, text string) {
	kept := w.troubles[:0]
	now := trouble{player: player, text: safe(text), times: 1}
	for _, t := range w.troubles {
		if t.player == player {
			now.times += t.times
			continue
		}
		kept = append(kept, t)
	}
	w.troubles = append(kept, now)
	w.troubles = w.troubles[max(0, len(w.troubles)-maxTroubles):]
}

// explain says why a player fails, which its referee does not know. The lock is held.
func (w *Wall) explain(player, text string) {
	for i := range w.troubles {
		if w.troubles[i].player == player {
			w.troubles[i].text = safe(text)
			return
		}
	}
	w.fault(player, text)
}

// widest is the number of players up to which there is a crosstable.
const widest = 40

// count counts a match that is over. The lock is held.
func (w *Wall) count(m *league.Match) {
	if w.adjusted == nil {
		n := len(w.league.Snapshot().Players)
		w.adjusted = make([]float64, n)
		if n <= widest {
			w.cross = make([]int, n*n)
		}
	}
	for len(w.counted) <= m.Index {
		w.counted = append(w.counted, false)
	}
	if w.counted[m.Index] {
		return
	}
	w.counted[m.Index] = true
	for i, seat := range m.Seats {
		w.adjusted[seat] += w.deserved(m, i)
		if w.cross != nil {
			w.cross[seat*len(w.adjusted)+m.Seats[1-i]] += m.Points[i]
		}
	}
}

// deserved returns what a choice was worth before the number was drawn. A technical loss
// is worth what it brought.
func (w *Wall) deserved(m *league.Match, i int) float64 {
	mine, others := m.Choices[i], m.Choices[1-i]
	if m.Status() == protocol.StatusTechnicalLoss || mine == game.NoParity || others == game.NoParity || mine == others {
		return float64(m.Points[i])
	}
	even, total := w.cfg.Draw.EvenWeight()
	if mine == game.Odd {
		even = total - even
	}
	return float64(m.Points[i]+m.Points[1-i]) * float64(even) / float64(total)
}

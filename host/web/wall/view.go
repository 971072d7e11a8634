package wall

import (
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"rsc.io/qr"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// view is what the templates show.
type view struct {
	manager.Snapshot
	Title                  string
	Waiting, Running, Over bool
	Join                   Join
	Code                   *code
	Seats                  []seat
	Cards                  []card
	Rows                   []row
	Podium                 []row
	More                   int // players that the table leaves out
	Cross                  []line
	Troubles               []fault
	Staff                  []staff
	Fair, Proofs, News     string
	Silent                 bool // nothing is known of the matches of some referee before they are over
	Resting                []string
}

// seat is one of the seats that fill up before the start.
type seat struct{ ID, Name string }

// card is a match of the round.
type card struct {
	ID       string
	Sides    [2]cardSide
	Number   int
	Over     bool
	Drawn    bool
	Deadline int64 // milliseconds since 1970; 0 for none
}

type cardSide struct {
	Name, Choice, State string // State is a class: idle, asked, in, shown, lost
	Points              int
	Won, Late           bool
}

// row is a line of the table.
type row struct {
	league.Standing
	Arrow, Moved string // up, down or nothing; in words
	Marks        []string
	Luck         string
}

// line is a line of the crosstable.
type line struct {
	ID, Name string
	Cells    template.HTML // one for each column: many, and numbers only
}

type fault struct {
	Name, Text string
	Times      int
}

type staff struct {
	ID, Name string
	Load     int
	Gone     bool
}

// longest is the number of players that the table shows.
const longest = 200

// view returns the league as it is.
func (w *Wall) view() *view {
	shot := w.league.Snapshot()
	for i := range shot.Players {
		shot.Players[i].Name = safe(shot.Players[i].Name)
	}
	v := &view{
		Snapshot: shot, Title: title(shot.League), Waiting: shot.Round == 0, Over: shot.Status == protocol.LeagueFinished,
	}
	v.Running = !v.Waiting && !v.Over
	if v.Over {
		w.judge()
	}
	if w.cfg.Proofs != nil {
		v.Proofs = w.cfg.Proofs(shot.Draws)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v.Join, v.Fair = w.join, w.verdict
	for _, tells := range w.referees {
		v.Silent = v.Silent || !tells
	}
	names, life := make(map[string]string), make(map[string]league.Life)
	for _, p := range shot.Players {
		names[p.ID], life[p.ID] = p.Name, p.Life
	}
	if v.Waiting {
		v.Code = encode(v.Join.Page)
		v.seats()
	}
	if v.Running {
		v.Cards = w.cards(shot.Matches, names)
		for _, id := range shot.Byes {
			v.Resting = append(v.Resting, names[id])
		}
	}
	v.rows(w, life)
	v.crosstable(w)
	for _, t := range slices.Backward(w.troubles) {
		v.Troubles = append(v.Troubles, fault{names[t.player], t.text, t.times})
	}
	v.staff()
	v.news()
	return v
}

// title is the id of a league in words.
func title(id string) string {
	if id == "" || id == manager.DefaultLeagueID {
		return "The league of even and odd"
	}
	words := []rune(strings.NewReplacer("_", " ", "-", " ").Replace(id))
	words[0] = unicode.ToUpper(words[0])
	return safe(string(words))
}

// staff lists the referees, where there is something to say of them: a single one that
// answers has the matches of the round, and after the end none has any.
func (v *view) staff() {
	for _, r := range v.Referees {
		gone := r.Life == league.Suspended
		if !v.Over && (gone || len(v.Referees) > 1) {
			v.Staff = append(v.Staff, staff{r.ID, safe(r.Name), r.Load, gone})
		}
	}
}

// judge has the draws of a league that is over judged, once.
func (w *Wall) judge() {
	w.mu.Lock()
	judged := w.verdict != "" || w.cfg.Judge == nil
	w.mu.Unlock()
	if judged {
		return
	}
	verdict := w.cfg.Judge(w.league.Results(), w.league.Draws())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.verdict = verdict
}

// seats lists who has registered, and how many seats are free.
func (v *view) seats() {
	for _, p := range v.Players {
		v.Seats = append(v.Seats, seat{p.ID, p.Name})
	}
	for len(v.Seats) < min(v.Wanted, longest) {
		v.Seats = append(v.Seats, seat{})
	}
}

// cards returns the matches of the round. The lock is held.
func (w *Wall) cards(matches []league.Match, names map[string]string) []card {
	all := make([]card, 0, len(matches))
	for _, m := range matches {
		c := card{ID: m.ID, Over: m.Over(), Drawn: m.Drawn, Number: m.Number}
		told := w.sides[m.ID]
		for i, id := range m.Players {
			s := cardSide{Name: names[id], State: "idle"}
			switch {
			case m.Over():
				s.finish(&m, i)
			case told != nil:
				s.State, s.Late = told[i].state(), told[i].retried
				if at := told[i].deadline; s.State == "asked" && !at.IsZero() {
					c.Deadline = max(c.Deadline, at.UnixMilli())
				}
			}
			c.Sides[i] = s
		}
		all = append(all, c)
	}
	return all
}

func (s *side) state() string {
	switch {
	case s.chose:
		return "in"
	case s.asked:
		return "asked"
	}
	return "idle"
}

// finish shows the side of a match that is over.
func (s *cardSide) finish(m *league.Match, i int) {
	s.State, s.Points, s.Won = "shown", m.Points[i], m.Results[i] == game.Win
	s.Choice = m.Choices[i].String()
	if m.Results[i] == game.TechnicalLoss {
		s.State, s.Choice = "lost", "no choice"
	}
}

// rows makes the table. The lock of w is held.
func (v *view) rows(w *Wall, life map[string]league.Life) {
	seats := make(map[string]int, len(v.Players))
	for i, p := range v.Players {
		seats[p.ID] = i
	}
	from := w.places
	if v.Over || v.MatchRound < v.Round {
		from = w.before // the last round is complete
	}
	for _, s := range v.Standings {
		r := row{Standing: s}
		r.DisplayName = safe(s.DisplayName)
		if was := from[s.PlayerID]; was > s.Rank {
			r.Arrow, r.Moved = "up", fmt.Sprintf("up %d", was-s.Rank)
		} else if was != 0 && was < s.Rank {
			r.Arrow, r.Moved = "down", fmt.Sprintf("down %d", s.Rank-was)
		}
		switch {
		case s.Status != "":
			r.Marks = append(r.Marks, strings.ToLower(string(s.Status)))
		case life[s.PlayerID] == league.Suspended:
			r.Marks = append(r.Marks, "does not answer")
		}
		if e := w.edits[s.PlayerID]; e.times > 0 {
			r.Marks = append(r.Marks, fmt.Sprintf("edited in round %d: version %d (%s)", e.round, e.times+1, safe(e.version)))
		}
		if s.TechnicalLosses > 0 {
			r.Marks = append(r.Marks, fmt.Sprintf("%d technical", s.TechnicalLosses))
		}
		if seat, ok := seats[s.PlayerID]; ok && v.Over && seat < len(w.adjusted) {
			r.Luck = fmt.Sprintf("%+.1f", float64(s.Points)-w.adjusted[seat])
		}
		v.Rows = append(v.Rows, r)
	}
	if v.Over {
		v.Podium = v.Rows[:min(3, len(v.Rows))]
	}
	if len(v.Rows) > longest {
		v.More = len(v.Rows) - longest
		v.Rows = v.Rows[:longest]
	}
}

// crosstable shows the points that each player took from each other one. The lock of w
// is held.
func (v *view) crosstable(w *Wall) {
	if v.Waiting || w.cross == nil {
		return
	}
	n := len(v.Players)
	played := make([]int, n)
	for _, s := range v.Standings {
		for i, p := range v.Players {
			if p.ID == s.PlayerID {
				played[i] = s.Played
			}
		}
	}
	for i, p := range v.Players {
		l, cells := line{ID: p.ID, Name: p.Name}, []byte(nil)
		for j := range n {
			cells = append(cells, "<td>"...) // whose end is that of the next, as HTML has it
			if i != j && played[i] > 0 && (w.cross[i*n+j] > 0 || w.cross[j*n+i] > 0) {
				cells = strconv.AppendInt(cells, int64(w.cross[i*n+j]), 10)
			}
		}
		l.Cells = template.HTML(cells)
		v.Cross = append(v.Cross, l)
	}
}

// news says in a sentence how far the league is. It changes once a round, since screen
// readers read it out.
func (v *view) news() {
	switch {
	case v.Waiting:
		v.News = fmt.Sprintf("%d players have registered.", len(v.Players))
	case v.Over && len(v.Podium) > 0:
		v.News = fmt.Sprintf("The league is over. %s has won with %d points.", v.Podium[0].DisplayName, v.Podium[0].Points)
	default:
		v.News = fmt.Sprintf("Round %d of %d.", v.Round, v.Rounds)
		if v.Paused {
			v.News += " The league is paused."
		}
	}
}

// address matches what spectators do not need to know: URLs, tokens, and what names a
// machine in the errors of connections.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?://[^\s"]+|(?:tok|mk|admin)[-_][0-9a-z_-]{8,}|` +
		`(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|(?:dial|read|write) (?:tcp|udp)\d? \S*[^\s:]|lookup \S*[^\s:])|\[[0-9a-f:.]*:[0-9a-f:.%a-z]*\](?::\d+)?`)
})

// safe shortens a text of somebody else to what fits, without addresses, and shows
// characters that would turn the direction of what follows.
func safe(text string) string {
	text = address().ReplaceAllString(text, "(address)")
	const most = 200
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			b.WriteRune('…')
			break
		}
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code is a QR code as the path of an SVG image.
type code struct {
	Size int // with the margin
	Path string
}

// margin is the width of the white frame that readers need.
const margin = 4

// encode returns the QR code of an address; nil for none.
func encode(url string) *code {
	if url == "" {
		return nil
	}
	c, err := qr.Encode(url, qr.M)
	if err != nil { // longer than a code can be
		return nil
	}
	var b strings.Builder
	for y := range c.Size {
		for x := range c.Size {
			if c.Black(x, y) {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+margin, y+margin)
			}
		}
	}
	return &code{Size: c.Size + 2*margin, Path: b.String()}
}

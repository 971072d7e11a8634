package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// Screen says how a run is shown to people. The zero value is plain text of any width
// with the columns of a first look.
type Screen struct {
	// Width is that of the terminal in characters; 0 is no limit. On a narrow terminal
	// columns are left out (raw points first, then kind, wins, differs, places and
	// faults), long names shortened, and sentences broken between words.
	Width int
	// Details shows all columns and what the numbers rest on.
	Details bool
	// Colour uses the colours of a terminal, and its signs instead of letters.
	Colour bool
	// Beyond counts the strategies that the default field has left out.
	Beyond int
}

// The colours of a terminal, as ANSI attributes.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
)

// WriteTable writes the report for people: the answer in a sentence or two, one line per
// player, best first, and below it what a reader needs to understand them.
//
// An interval is given as ± its longer half, with the decimals that it has itself. The
// mark of a player says how it compares with the first of the user's strategies, or
// without one whether it is better than the next: ">" significantly, "=" both scored the
// same in every league, "~" no evidence. Marks and place ranges hold together.
func WriteTable(w io.Writer, r *Document, screen Screen) error {
	s := sheet{width: screen.Width, colour: screen.Colour}
	s.lines(slices.Concat(r.ConfirmationLines(), r.Answer, []string{""})...)
	if screen.Details {
		s.details(r)
	} else {
		s.brief(r, screen)
	}
	return s.send(w, "table")
}

// brief writes a first look. Of a test of two players it has no marks and places, which are
// about all.
func (s *sheet) brief(r *Document, screen Screen) {
	players, q := r.Players, r.Stopping.Ratio
	if q != nil {
		players = slices.DeleteFunc(slices.Clone(players), func(p Player) bool { return p.Name != q.New && p.Name != q.Old })
	}
	legend := words.Plain.Say("legend", struct {
		*analysis.Estimates
		Yours        *Player
		Test, Colour bool
	}{&r.Estimates, r.firstOfYours(), q != nil, screen.Colour})
	stopping := r.StoppingLines()
	s.table(r.brief(screen, players))
	s.lines("")
	s.lines(slices.Concat(legend, stopping[:max(0, len(stopping)-1)], r.WarningLines())...) // the last is about the method
	s.faults(r)
	s.lines(slices.Concat(r.Facts.Lines(), AssertionLines(r.Assertions), r.ReproducibleLines(), []string{r.head()},
		words.Plain.Say("more", struct {
			Screen
			Test bool
		}{screen, q != nil}))...)
}

// head says what was played.
func (r *Document) head() string { return words.Plain.Say("head", r)[0] }

// firstOfYours is the user's player with the best place; nil for none.
func (r *Document) firstOfYours() *Player {
	if i := slices.IndexFunc(r.Players, func(p Player) bool { return p.Yours }); i >= 0 {
		return &r.Players[i]
	}
	return nil
}

// brief has the columns of a first look at some players. Marks compare each with the user's
// first strategy, or with the next player.
func (r *Document) brief(screen Screen, players []Player) []column {
	rows, first := r.rows(players), r.firstOfYours()
	failing := slices.ContainsFunc(players, func(p Player) bool { return p.TechnicalLosses > 0 })
	for k := range rows {
		p := &rows[k]
		p.Placed, p.Failing = p.Ranked && r.Stopping.Ratio == nil, failing
		if p.Yours {
			p.Mark = "*"
		} else if first != nil {
			p.Mark = words.Against(&r.Estimates, first.Field, p.Field)
		}
		if screen.Colour {
			p.Mark = cmp.Or(map[string]string{"+": "✓", "-": "✗"}[p.Mark], p.Mark)
		}
	}
	return embolden(columnsOf("brief", rows), func(row int) bool { return players[row].Yours }, func(head, cell string) string {
		switch head {
		case "":
			return map[string]string{"✓": green, "✗": red, "~": faint}[cell]
		case "faults":
			return cmp.Or(map[string]string{"0": faint}[cell], red)
		}
		return ""
	})
}

// details writes all columns and what the numbers rest on.
func (s *sheet) details(r *Document) {
	s.lines(r.head(), "")
	s.table(r.columns())
	s.lines("")
	s.lines(slices.Concat(words.Plain.Say("verdict", &r.Estimates), r.StoppingLines(), words.Plain.Say("ranking", r), r.WarningLines())...)
	s.oneLeague(r)
	s.otherFields(r)
	s.faults(r)
	s.lines(slices.Concat(r.factLines(), AssertionLines(r.Assertions))...)
}

// columns renders all cells. If nothing can be ranked, only the columns that say
// something about the players remain.
func (r *Document) columns() []column {
	if r.Estimates.NothingToRank() {
		return columnsOf("unranked", r.rows(r.Players))
	}
	return columnsOf("ranked", r.rows(r.Players))
}

// factLines say what was played, and how to recognise it.
func (r *Document) factLines() []string {
	about := struct {
		Facts
		Matches, Rate int64
	}{Facts: r.Facts, Matches: r.Matches}
	if rate := float64(r.Facts.MatchesPerSecond); !math.IsInf(rate, 0) {
		about.Rate = int64(max(0, rate))
	}
	return slices.Concat(words.Plain.Say("played", about), r.ReproducibleLines())
}

// oneLeague writes what to expect of the players in a single league, each compared with
// the next.
func (s *sheet) oneLeague(r *Document) {
	e := &r.Estimates
	lines := words.Plain.Say("one league", e)
	if e.Leagues < 2 || len(lines) == 0 {
		return
	}
	s.lines("", "In one league:")
	s.table(columnsOf("in one league", r.rows(r.Players)))
	s.lines("")
	s.lines(lines...)
	s.lines(append(words.Plain.Say("single leagues", nil), "")...)
}

// longestFault is how much of a script's message is printed, its hint included.
const longestFault = 300

// faults says what each player's technical losses were. Commands are not broken, so
// that they can be pasted.
func (s *sheet) faults(r *Document) {
	for _, p := range r.Players {
		for _, line := range words.Plain.Faults(&p.Player, r.Folder, longestFault) {
			if strings.HasPrefix(line, "  strategylab ") {
				s.WriteString(line + "\n")
				continue
			}
			s.lines(line)
		}
	}
}

// otherFields writes what the order would be in other fields.
func (s *sheet) otherFields(r *Document) {
	x := r.Robustness
	if x == nil {
		return
	}
	s.lines("In other fields:")
	s.table(columnsOf("elsewhere", r.rows(r.Players)))
	s.lines("")
	s.lines(words.Plain.Robustness(&r.Estimates, x)...)
	s.lines(words.Plain.Say("resampled fields", nil)...)
	s.lines("")
}

// WriteMatch writes what two strategies have shown against each other.
func WriteMatch(w io.Writer, plan results.Plan, est analysis.Estimates) error {
	about := struct {
		*analysis.Estimates
		analysis.Pair
		Plan results.Plan
	}{&est, est.Pairs[0], plan}
	var s sheet
	s.lines(words.Plain.Say("met", about)[0], "")
	s.lines(words.Plain.Say("match", about)...)
	if est.NothingToRank() {
		s.lines("", "The draw is fair, so neither strategy can beat the other: each expects 1 + P(differ)/2 points a match.")
	}
	return s.send(w, "match")
}

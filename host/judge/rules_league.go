package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// row is a player's line of a table, and what the player's results before the table add up to.
type row struct {
	protocol.Standing
	*record
	in      *table
	stated  [3]int // wins, ties, losses
	whole   bool   // it states all three
	matches int    // that it counts
	counted bool   // it says how many, or all three
	agrees  bool   // what it states of the three is what the results add up to
	covered bool   // it counts as many matches as the results before its table
}

// record is what a player's results before a table add up to.
type record struct {
	of        [3]int // wins, ties, losses
	technical bool   // technical losses are among them, its own or of others
	walkover  bool   // it won by one
	shown     []*trace.Exchange
	unclear   bool // a match has an unknown result, or several
	recorded  int  // results, also those after the table
	place     int  // by the order of the protocol, if that is known; by the numbers until all is added up
}

// tally compares the rows of a table with the results before it.
func (l *League) tally(t *table) {
	records := map[string]*record{}
	for _, line := range t.Rows {
		records[line.PlayerID] = new(record)
	}
	ids := slices.SortedFunc(maps.Keys(records), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for i, id := range ids {
		records[id].place = i
	}
	counts := game.NewTable(min(len(ids), game.MaxPlayers))
	t.ordered = len(ids) <= game.MaxPlayers
	for _, m := range l.matches {
		if len(m.results) == 0 {
			continue
		}
		began := t.Final || m.at < t.at
		verdict, known := m.verdict()
		technical := m.ended(protocol.StatusTechnicalLoss)
		t.ordered = t.ordered && (!began || known)
		for i, p := range m.Players {
			r := records[p]
			if r == nil {
				t.ordered = t.ordered && !began
				continue
			}
			r.recorded++
			if kind := kinds(verdict)[i]; began {
				r.of[kind]++
				r.unclear = r.unclear || !known || m.again
				r.technical, r.walkover = r.technical || technical, r.walkover || technical && kind == 0
				r.shown = append(r.shown, m.results[0].x)
			}
		}
		if began && t.ordered {
			counts.Add(records[m.Players[0]].place, records[m.Players[1]].place, verdict)
		}
	}
	for i, r := range counts.Ranking() {
		records[ids[r.Seat]].place = i
	}
	t.counted = len(t.Rows) > 0
	for _, line := range t.Rows {
		r := t.read(line, records[line.PlayerID])
		t.rows, t.total, t.counted = append(t.rows, r), t.total+r.matches, t.counted && r.counted
		if r.Rank > 0 {
			t.ranked = append(t.ranked, r)
		}
		t.ordered = t.ordered && (r.Rank < 1 || r.covered && r.agrees)
	}
	slices.SortStableFunc(t.ranked, func(a, b *row) int { return cmp.Compare(a.Rank, b.Rank) })
}

func (t *table) read(line protocol.Standing, results *record) *row {
	r := &row{Standing: line, record: results, in: t, whole: true, agrees: true}
	for i, stated := range []protocol.Opt[int]{line.Wins, line.Draws, line.Losses} {
		n, ok := stated.Get()
		r.stated[i], r.whole, r.agrees = n, r.whole && ok, r.agrees && (!ok || n == r.of[i])
		r.matches += n
	}
	r.counted = r.whole
	if n, ok := line.Played.Get(); ok {
		r.matches, r.counted = n, true
	}
	r.covered = r.counted && !r.unclear && r.matches == len(r.shown)
	return r
}

// verdict returns how a match ended by the first message that states it; ok is false if
// none does.
func (m *match) verdict() (v game.Verdict, ok bool) {
	for _, t := range m.results {
		winner := slices.Index(m.Players[:], t.Winner)
		if t.Conflict != "" || !t.Decided || !m.known() || winner < 0 && !t.technical() && t.Status != protocol.StatusDraw {
			continue
		}
		choices := [2]game.Parity{game.Even, game.Odd} // so that the winner's index is the number by which it wins
		if winner < 0 {
			choices[1] = choices[0]
		}
		return m.score(choices, winner, func(id string) bool { return t.technical() && id != t.Winner }), true
	}
	return v, false
}

// ended reports whether a message says that a match has ended so.
func (m *match) ended(status string) bool {
	return slices.ContainsFunc(m.results, func(t *result) bool { return t.Status == status })
}

// complete reports whether the recorded results are all that a player has: it is not certain
// otherwise that a table contains these, as it may be older than those before it. The final
// table says it; before there is one, who plays all of them or gets all reports knows.
func (l *League) complete(r *row) bool {
	for _, t := range slices.Backward(l.tables) {
		i := slices.IndexFunc(t.rows, func(last *row) bool { return last.PlayerID == r.PlayerID })
		if t.Final && i >= 0 {
			return t.rows[i].counted && t.rows[i].matches == r.recorded
		}
	}
	for key, ids := range l.people {
		if strings.HasPrefix(key, "agent ") && slices.Contains(ids, r.PlayerID) {
			return true
		}
	}
	return l.reported
}

// standings examines the rows of players whose matches are all recorded. Where the table
// counts other points throughout, that is another rule.
func (l *League) standings(v *Verdict) {
	points := l.tablePoints()
	if points != protocolPoints {
		v.add(Another, nil, "the table counts %s; the protocol %s", points, protocolPoints)
	}
	var all []*row
	technical := false // whether the league counts technical losses as the protocol does
	wrong := func(r *row) bool { return !r.agrees || r.Points != points.sum(r.of) }
	for _, t := range l.tables {
		for _, r := range t.rows {
			if !r.covered || !l.complete(r) {
				v.unknown("all results of a player in a table")
				continue
			}
			all = append(all, r)
			technical = technical || r.walkover && !wrong(r)
		}
	}
	for _, r := range all {
		if wrong(r) && r.technical && !technical {
			v.unknown("how the league counts technical losses")
			continue
		}
		v.examine(!wrong(r), append(r.shown, r.in.x), "%s: %s has %s, %s, %s and %s; its results add up to %d, %d, %d and %d", r.in.name(), r.PlayerID,
			count(r.stated[0], "win"), count(r.stated[1], "tie"), count(r.stated[2], "loss"), count(r.Points, "point"),
			r.of[0], r.of[1], r.of[2], points.sum(r.of))
	}
}

// sum returns the points for wins, ties and losses.
func (s scale) sum(of [3]int) int { return s[0]*of[0] + s[1]*of[1] + s[2]*of[2] }

// String says what a scale gives.
func (s scale) String() string {
	return fmt.Sprintf("%d for a win, %d for a tie and %d for a loss", s[0], s[1], s[2])
}

// tablePoints returns what the last table counts for a win, a tie and a loss: what the
// protocol does, unless only another scale gives the points of all its rows. What no row
// shows is as in the protocol.
func (l *League) tablePoints() scale {
	var rows []*row
	if n := len(l.tables); n > 0 {
		rows = l.tables[n-1].rows
	}
	const most = 10
	wins, ties, losses := []int{game.WinPoints}, []int{game.TiePoints}, []int{0} // what is tried first
	for n := range most + 1 {
		wins, ties, losses = append(wins, n), append(ties, n), append(losses, -n, n)
	}
	for _, win := range wins {
		for _, tie := range ties {
			for _, loss := range losses {
				s := scale{win, tie, loss}
				if loss <= tie && tie <= win && loss < win && !slices.ContainsFunc(rows, func(r *row) bool { return r.whole && s.sum(r.stated) != r.Points }) {
					return s
				}
			}
		}
	}
	return protocolPoints
}

// order is what a table may be ordered by, the largest first.
type order struct {
	by string
	of func(*row) float64
}

var orders = []order{
	{"points", func(r *row) float64 { return float64(r.Points) }},
	{"wins", func(r *row) float64 { return float64(r.stated[0]) }},
	{"losses", func(r *row) float64 { return -float64(r.stated[2]) }},
	{"points a match", func(r *row) float64 { return float64(r.Points) / float64(max(r.matches, 1)) }},
}

// ranks: a table that follows another order throughout has another rule. Rows without a
// rank are left out.
func (l *League) ranks(v *Verdict) {
	for _, t := range l.tables {
		if len(t.ranked) < 2 {
			continue
		}
		v.Examined++
		followed := slices.IndexFunc(orders, func(o order) bool {
			return slices.IsSortedFunc(t.ranked, func(a, b *row) int { return cmp.Or(cmp.Compare(o.of(b), o.of(a)), cmp.Compare(b.Points, a.Points)) })
		})
		if followed > 0 {
			v.another(t.x, "ranks follow the %s, not the points", orders[followed].by)
		}
		for i := 1; followed < 0 && i < len(t.ranked); i++ {
			if a, b := t.ranked[i-1], t.ranked[i]; b.Points > a.Points {
				v.add(Broken, []*trace.Exchange{t.x}, "%s: rank %d with %s is below rank %d with %d", t.name(), b.Rank, count(b.Points, "point"), a.Rank, a.Points)
			}
		}
	}
}

func (t *table) name() string {
	switch {
	case t.Final:
		return "the final table"
	case t.Round == 0:
		return "a table"
	}
	return fmt.Sprintf("the table after round %d", t.Round)
}

// ties judges a table if it is known how every match in it ended. Other leagues break ties
// otherwise.
func (l *League) ties(v *Verdict) {
	for _, t := range l.tables {
		switch {
		case len(t.ranked) < 2:
			continue
		case !t.ordered:
			v.unknown("all results of a league, and who was at fault in technical losses")
			continue
		}
		v.Examined += len(t.ranked)
		for i := 1; i < len(t.ranked); i++ {
			if a, b := t.ranked[i-1], t.ranked[i]; a.Points == b.Points && a.Rank < b.Rank && a.place > b.place {
				v.another(t.x, "%s ranks above %s with as many points; by wins, points among them, technical losses and number it is the other way round",
					a.PlayerID, b.PlayerID)
			}
		}
	}
}

func (l *League) champions(v *Verdict) {
	for _, t := range l.tables {
		if !t.Final || len(t.rows) == 0 {
			continue
		}
		switch i := slices.IndexFunc(t.ranked, func(r *row) bool { return r.PlayerID == t.Champion }); {
		case t.Champion == "":
			v.unknown("the champion")
		case len(t.ranked) < len(t.rows):
			v.unknown("the ranks of the final table")
		case i < 0:
			v.unknown("the champion's row in the final table")
		default:
			first := t.ranked[0]
			v.examine(t.ranked[i].Rank <= first.Rank, []*trace.Exchange{t.x}, "the champion is %s, but %s is first in the final table", t.Champion, first.PlayerID)
		}
	}
}

// balance judges the announced schedule. Another one is another rule: a round in which
// somebody plays twice, or a complete league in which pairs do not play equally often,
// such as one that a player left.
func (l *League) balance(v *Verdict) {
	for _, x := range l.announced {
		m, plays := x.Request.(*protocol.RoundAnnouncement), map[string]string{}
		for _, a := range m.Matches {
			for _, p := range []string{a.PlayerAID, a.PlayerBID} {
				if other := plays[p]; p != "" && other != "" && other != a.MatchID {
					v.another(x, "round %d: %s plays both %s and %s", m.RoundID.Number(), p, other, a.MatchID)
				}
				plays[p] = a.MatchID
			}
		}
	}
	met, often := map[[2]string]int{}, 0
	for _, m := range l.matches {
		switch {
		case m.announced && m.known():
			v.Examined++
			pair := m.Players
			slices.Sort(pair[:])
			met[pair]++
			often = max(often, met[pair])
		case m.announced:
			v.unknown("the players of a match")
		}
	}
	switch {
	case often == 0 || !l.completed:
		return
	case !l.wholeSchedule():
		v.unknown("the announcements of all rounds")
		return
	}
	players := slices.Sorted(maps.Keys(l.players))
	for i, a := range players {
		for _, b := range players[i+1:] {
			if n := met[[2]string{a, b}]; n != often {
				v.add(Another, nil, "%s and %s played %s, others %s", a, b, count(n, "time"), count(often, "time"))
			}
		}
	}
}

// wholeSchedule reports whether the recording has the schedule of all rounds: the
// final table counts no more matches than are known, and each round of them was
// announced.
func (l *League) wholeSchedule() bool {
	final := new(table)
	for _, t := range l.tables {
		if t.Final {
			final = t
		}
	}
	return final.counted && final.total > 0 && final.total <= 2*len(l.matches) && !slices.ContainsFunc(l.matches, func(m *match) bool {
		return m.again || !m.announced && (len(l.rounds[m.Round]) != 1 || m.Round == 0)
	})
}

// byes judges announcements that leave out one player: more of them are in other copies.
// Other leagues do not count on who was taken out.
func (l *League) byes(v *Verdict) {
	for _, x := range l.announced {
		m := x.Request.(*protocol.RoundAnnouncement)
		var out []string
		for _, p := range slices.Sorted(maps.Keys(l.players)) {
			plays := slices.ContainsFunc(m.Matches, func(a protocol.AnnouncedMatch) bool { return a.PlayerAID == p || a.PlayerBID == p })
			switch rests := slices.Contains(m.Byes, p); {
			case plays && rests:
				v.another(x, "round %d: %s plays, and has a bye", m.RoundID.Number(), p)
			case !plays && !rests:
				out = append(out, p)
			}
		}
		if m.Byes == nil || len(out) > 1 {
			v.unknown("the byes of a round")
			continue
		}
		v.Examined++
		if len(out) == 1 {
			v.another(x, "round %d: %s has neither a match nor a bye", m.RoundID.Number(), out[0])
		}
	}
}

// totals compares what the ends of rounds and of the league count with what was announced
// and how it ended. Other leagues count technical losses among the wins.
func (l *League) totals(v *Verdict) {
	compare := func(x *trace.Exchange, what string, stated protocol.Opt[int], want int) {
		if n, ok := stated.Get(); ok {
			v.Examined++
			if n != want {
				v.another(x, "%s counts %d as %s; it is %d", x.Type, n, what, want)
			}
		}
	}
	for _, x := range l.ended {
		m := x.Request.(*protocol.RoundCompleted)
		all, of, ok := l.roundEnded(m.RoundID.Number())
		if !ok {
			v.unknown("all results of a round")
			continue
		}
		compare(x, "matches_completed", m.MatchesCompleted, all)
		compare(x, "matches_played", m.MatchesPlayed, all)
		if s := m.Summary; s != nil {
			compare(x, "total_matches", s.TotalMatches, all)
			compare(x, "wins", s.Wins, of[0])
			compare(x, "draws", s.Draws, of[1])
			compare(x, "technical_losses", s.TechnicalLosses, of[2])
		}
	}
	for _, t := range l.tables {
		if end, ok := t.x.Request.(*protocol.LeagueCompleted); ok && t.counted && t.total%2 == 0 {
			compare(t.x, "total_matches", end.TotalMatches, t.total/2)
		}
	}
}

// roundEnded counts the matches of a round, and those that were won, tied and decided by a
// technical loss. It is false if they are not all known.
func (l *League) roundEnded(round int) (all int, of [3]int, ok bool) {
	lists := l.rounds[round]
	if len(lists) != 1 || round == 0 || !l.completed {
		return 0, of, false
	}
	ids := strings.Fields(lists[0])
	if 2*len(ids) < len(l.players)-1 { // a copy that leaves matches out
		return 0, of, false
	}
	for _, id := range ids {
		m := l.byID[id]
		kind := slices.IndexFunc([]string{protocol.StatusWin, protocol.StatusDraw, protocol.StatusTechnicalLoss}, m.ended)
		if kind < 0 || m.again || m.Round != round {
			return 0, of, false
		}
		of[kind]++
	}
	return len(ids), of, true
}

// count says a number of things: "1 point", "3 losses".
func count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

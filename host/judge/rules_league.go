package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// record is what a player's results before a table add up to.
type record struct {
	of        [3]int // wins, ties, losses
	technical bool   // technical losses are among them, its own or of others
	walkover  bool   // it won by one
	shown     []*Exchange
	unclear   bool // a match has an unknown result, or several
	recorded  int  // results, also those after the table
	seat      int  // in the order of the numbers
}

// tally adds up the results before a table.
func (l *League) tally(t *table) {
	t.records = map[string]*record{}
	for _, row := range t.Rows {
		t.records[row.PlayerID] = new(record)
	}
	ids := slices.SortedFunc(maps.Keys(t.records), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for i, id := range ids {
		t.records[id].seat = i
	}
	t.counts = game.NewTable(min(len(ids), game.MaxPlayers))
	t.ordered = len(ids) <= game.MaxPlayers
	for _, m := range l.matches {
		if len(m.results) == 0 {
			continue
		}
		began := t.Final || m.at < t.at
		verdict, known := m.verdict()
		technical := m.ended(protocol.StatusTechnicalLoss)
		for i, p := range m.Players {
			r := t.records[p]
			if r == nil {
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
		a, b := t.records[m.Players[0]], t.records[m.Players[1]]
		t.ordered = t.ordered && (!began || known && a != nil && b != nil)
		if began && t.ordered {
			t.counts.Add(a.seat, b.seat, verdict)
		}
	}
}

// covers reports whether a row counts as many matches as the results before its table.
func (r *record) covers(row protocol.Standing) bool {
	played, ok := rowPlayed(row)
	return ok && !r.unclear && played == len(r.shown)
}

// verdict returns how a match ended by the first message that states it; ok is false if
// none does.
func (m *match) verdict() (v game.Verdict, ok bool) {
	for _, t := range m.results {
		winner := slices.Index(m.Players[:], t.Winner)
		technical := t.Status == protocol.StatusTechnicalLoss
		if t.Conflict != "" || !t.Decided || !m.known() || winner < 0 && !technical && t.Status != protocol.StatusDraw {
			continue
		}
		sides := [2]game.Side{{Choice: game.Even}, {Choice: game.Odd}} // so that the winner's index is the number by which it wins
		if winner < 0 {
			sides[1] = sides[0]
		}
		for i := range sides {
			if technical && i != winner {
				sides[i].Fault = game.FaultNoAnswer // the score is the same for all faults
			}
		}
		return game.Judge(sides[0], sides[1], winner), true
	}
	return v, false
}

// ended reports whether a message says that a match has ended so.
func (m *match) ended(status string) bool {
	return slices.ContainsFunc(m.results, func(t result) bool { return t.Status == status })
}

// complete reports whether a number of results is all that a player has: it is not certain
// otherwise that a table contains these, as it may be older than those before it. The final
// table says it; before there is one, who plays all of them or gets all reports knows.
func (l *League) complete(player string, results int) bool {
	for _, t := range slices.Backward(l.tables) {
		i := slices.IndexFunc(t.Rows, func(row protocol.Standing) bool { return row.PlayerID == player })
		if t.Final && i >= 0 {
			n, ok := rowPlayed(t.Rows[i])
			return ok && n == results
		}
	}
	for key, ids := range l.people {
		if strings.HasPrefix(key, "agent ") && slices.Contains(ids, player) {
			return true
		}
	}
	return l.reported
}

// standings examines the rows of players whose matches are all recorded. Where the table
// counts other points throughout, that is another rule.
func (l *League) standings() (v Verdict) {
	points := l.tablePoints()
	if points != protocolPoints {
		v.add(Another, nil, "the table counts %s; the protocol %s", points, protocolPoints)
	}
	type claim struct {
		*table
		protocol.Standing
		*record
	}
	var all []claim
	technical := false // whether the league counts technical losses as the protocol does
	wrong := func(c claim) bool { return c.Points != points.sum(c.of) || !agrees(c.Standing, c.of) }
	for _, t := range l.tables {
		for _, row := range t.Rows {
			c := claim{t, row, t.records[row.PlayerID]}
			if !c.covers(row) || !l.complete(row.PlayerID, c.recorded) {
				v.unknown("all results of a player in a table")
				continue
			}
			all = append(all, c)
			technical = technical || c.walkover && !wrong(c)
		}
	}
	for _, c := range all {
		if wrong(c) && c.technical && !technical {
			v.unknown("how the league counts technical losses")
			continue
		}
		v.Examined++
		if wrong(c) {
			v.add(Broken, append(c.shown, c.x), "%s: %s has %s, %s, %s and %s; its results add up to %d, %d, %d and %d", c.name(), c.PlayerID,
				count(c.Wins.Value(), "win"), count(c.Draws.Value(), "tie"), count(c.Losses.Value(), "loss"), count(c.Points, "point"),
				c.of[0], c.of[1], c.of[2], points.sum(c.of))
		}
	}
	return v
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
	if len(l.tables) == 0 {
		return protocolPoints
	}
	rows := l.tables[len(l.tables)-1].Rows
	fits := func(s scale) bool {
		return !slices.ContainsFunc(rows, func(row protocol.Standing) bool {
			of, ok := countedIn(row)
			return ok && s.sum(of) != row.Points
		})
	}
	const most = 10
	wins, ties, losses := []int{game.WinPoints}, []int{game.TiePoints}, []int{0} // what is tried first
	for n := range most + 1 {
		wins, ties, losses = append(wins, n), append(ties, n), append(losses, -n, n)
	}
	for _, win := range wins {
		for _, tie := range ties {
			for _, loss := range losses {
				if s := (scale{win, tie, loss}); loss <= tie && tie <= win && loss < win && fits(s) {
					return s
				}
			}
		}
	}
	return protocolPoints
}

// order is what a table is ordered by, the largest first.
type order struct {
	by string
	of func(protocol.Standing) float64
}

var orders = []order{
	{"points", func(r protocol.Standing) float64 { return float64(r.Points) }},
	{"wins", func(r protocol.Standing) float64 { return float64(r.Wins.Value()) }},
	{"losses", func(r protocol.Standing) float64 { return -float64(r.Losses.Value()) }},
	{"points a match", func(r protocol.Standing) float64 {
		n, _ := rowPlayed(r)
		return float64(r.Points) / float64(max(n, 1))
	}},
}

// ranks: a table that follows another order throughout has another rule. Rows without a
// rank are left out.
func (l *League) ranks() (v Verdict) {
	for _, t := range l.tables {
		rows := t.ranked()
		if len(rows) < 2 {
			continue
		}
		v.Examined++
		followed := slices.IndexFunc(orders, func(o order) bool {
			return slices.IsSortedFunc(rows, func(a, b protocol.Standing) int {
				return cmp.Or(cmp.Compare(o.of(b), o.of(a)), cmp.Compare(b.Points, a.Points))
			})
		})
		if followed > 0 {
			v.another(t.x, "ranks follow the %s, not the points", orders[followed].by)
		}
		if followed >= 0 {
			continue
		}
		for i := 1; i < len(rows); i++ {
			if a, b := rows[i-1], rows[i]; b.Points > a.Points {
				v.add(Broken, []*Exchange{t.x}, "%s: rank %d with %s is below rank %d with %d", t.name(), b.Rank, count(b.Points, "point"), a.Rank, a.Points)
			}
		}
	}
	return v
}

// ranked returns the rows with a rank, in the order of the ranks.
func (t *table) ranked() []protocol.Standing {
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r protocol.Standing) bool { return r.Rank < 1 })
	slices.SortStableFunc(rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Rank, b.Rank) })
	return rows
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

// countedIn returns the wins, ties and losses of a row, false if it lacks one of them.
func countedIn(row protocol.Standing) (of [3]int, ok bool) {
	w, okW := row.Wins.Get()
	d, okD := row.Draws.Get()
	n, okL := row.Losses.Get()
	return [3]int{w, d, n}, okW && okD && okL
}

// rowPlayed returns the number of matches in a row, false if the row has none.
func rowPlayed(row protocol.Standing) (int, bool) {
	if n, ok := row.Played.Get(); ok {
		return n, true
	}
	of, ok := countedIn(row)
	return of[0] + of[1] + of[2], ok
}

// agrees reports whether a row states a number of wins, ties and losses, as far as it
// states any.
func agrees(row protocol.Standing, of [3]int) bool {
	for i, stated := range []protocol.Opt[int]{row.Wins, row.Draws, row.Losses} {
		if n, ok := stated.Get(); ok && n != of[i] {
			return false
		}
	}
	return true
}

// ties judges a table if it is known how every match in it ended. Other leagues break ties
// otherwise.
func (l *League) ties() (v Verdict) {
	for _, t := range l.tables {
		rows := t.ranked()
		if len(rows) < 2 {
			continue
		}
		if !t.ordered || slices.ContainsFunc(rows, func(row protocol.Standing) bool {
			r := t.records[row.PlayerID]
			return !r.covers(row) || !agrees(row, r.of)
		}) {
			v.unknown("all results of a league, and who was at fault in technical losses")
			continue
		}
		v.Examined += len(rows)
		place := map[int]int{} // by seat
		for i, row := range t.counts.Ranking() {
			place[row.Seat] = i
		}
		for i := 1; i < len(rows); i++ {
			a, b := rows[i-1], rows[i]
			if a.Points == b.Points && a.Rank < b.Rank && place[t.records[a.PlayerID].seat] > place[t.records[b.PlayerID].seat] {
				v.another(t.x, "%s ranks above %s with as many points; by wins, points among them, technical losses and number it is the other way round",
					a.PlayerID, b.PlayerID)
			}
		}
	}
	return v
}

func (l *League) champions() (v Verdict) {
	for _, t := range l.tables {
		if !t.Final || len(t.Rows) == 0 {
			continue
		}
		rows := t.ranked()
		switch i := slices.IndexFunc(rows, func(r protocol.Standing) bool { return r.PlayerID == t.Champion }); {
		case t.Champion == "":
			v.unknown("the champion")
		case len(rows) < len(t.Rows):
			v.unknown("the ranks of the final table")
		case i < 0:
			v.unknown("the champion's row in the final table")
		default:
			v.Examined++
			if rows[i].Rank > rows[0].Rank {
				v.add(Broken, []*Exchange{t.x}, "the champion is %s, but %s is first in the final table", rows[i].PlayerID, rows[0].PlayerID)
			}
		}
	}
	return v
}

// balance judges the announced schedule. Another one is another rule: a round in which
// somebody plays twice, or a complete league in which pairs do not play equally often,
// such as one that a player left.
func (l *League) balance() (v Verdict) {
	v.Findings = slices.Clone(l.doubled.Findings)
	met := map[[2]string]int{}
	for _, m := range l.matches {
		switch {
		case m.announced && m.known():
			v.Examined++
			pair := m.Players
			slices.Sort(pair[:])
			met[pair]++
		case m.announced:
			v.unknown("the players of a match")
		}
	}
	if len(met) == 0 || !l.completed {
		return v
	}
	if !l.wholeSchedule() {
		v.unknown("the announcements of all rounds")
		return v
	}
	often := slices.Max(slices.Collect(maps.Values(met)))
	players := slices.Sorted(maps.Keys(l.players))
	for i, a := range players {
		for _, b := range players[i+1:] {
			if n := met[[2]string{a, b}]; n != often {
				v.add(Another, nil, "%s and %s played %s, others %s", a, b, count(n, "time"), count(often, "time"))
			}
		}
	}
	return v
}

// wholeSchedule reports whether the recording has the schedule of all rounds: the
// final table counts no more matches than are known, and each round of them was
// announced.
func (l *League) wholeSchedule() bool {
	total, counted := 0, false
	for _, t := range l.tables {
		if t.Final {
			total, counted = t.played()
		}
	}
	for _, m := range l.matches {
		if m.again || !m.announced && (len(l.rounds[m.Round]) != 1 || m.Round == 0) {
			return false
		}
	}
	return counted && total > 0 && total <= 2*len(l.matches)
}

// played adds up the matches of all rows; ok is false if there is no row, or one has none.
func (t *table) played() (total int, ok bool) {
	for _, row := range t.Rows {
		n, counted := rowPlayed(row)
		if !counted {
			return 0, false
		}
		total += n
	}
	return total, len(t.Rows) > 0
}

// byes judges announcements that leave out one player: more of them are in other copies.
// Other leagues do not count on who was taken out.
func (l *League) byes() (v Verdict) {
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
	return v
}

// totals compares what the ends of rounds and of the league count with what was announced
// and how it ended. Other leagues count technical losses among the wins.
func (l *League) totals() (v Verdict) {
	compare := func(x *Exchange, what string, stated protocol.Opt[int], want int) {
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
		if end, ok := t.x.Request.(*protocol.LeagueCompleted); ok {
			if played, ok := t.played(); ok && played%2 == 0 {
				compare(t.x, "total_matches", end.TotalMatches, played/2)
			}
		}
	}
	return v
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

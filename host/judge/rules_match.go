package judge

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// choices: a player that was called twice may have given two choices, of which the
// referee saw one.
func (l *League) choices(v *Verdict) {
	for _, t := range l.results {
		for _, player := range t.Players {
			given, reported := t.answers[player], t.Choices[player]
			same := slices.ContainsFunc(given, func(a *answer) bool { return a.choice == reported })
			switch {
			case len(given) == 0 && !reported.Valid():
			case len(given) == 0:
				v.unknown("the answer in which a player chose")
			case !reported.Valid():
				v.unknown("the choices in a result")
			case !same && !slices.ContainsFunc(given, t.inTime):
				v.unknown("whether an answer came in time")
			default:
				v.examine(same, []*trace.Exchange{given[0].x, t.x}, "%s: %s answered %s, but %s received %s", t.ID, player, given[0].choice, t.To, reported)
			}
		}
	}
}

// numbers: other numbers than those of the protocol are another rule, unless they
// contradict the draw that the league announced.
func (l *League) numbers(v *Verdict, announced game.Draw) {
	var strange []*trace.Exchange // that have a number where nothing was drawn
	for _, t := range l.results {
		n, drawn := t.DrawnNumber.Get()
		if !drawn && !t.technical() {
			v.unknown("the drawn number")
			continue
		}
		v.Examined++
		_, possible := announced.Index(n)
		said, err := game.ParseParity(t.NumberParity.Value()) // another word is no breach of this rule
		switch {
		case t.technical() && drawn && n != 0:
			strange = append(strange, t.x)
		case t.technical():
		case err == nil && said != game.ParityOf(n):
			v.add(Broken, []*trace.Exchange{t.x}, "%s: %s received that %d is %s", t.ID, t.To, n, said)
		case announced.Size() > 0 && !possible:
			v.add(Broken, []*trace.Exchange{t.x}, "%s: %s received the number %d, which %s never gives", t.ID, t.To, n, announced)
		}
	}
	if len(strange) > 0 {
		v.add(Another, strange, "a technical loss has a number, such as that of %s", strange[0].Match)
	}
	if lo, hi, other := l.span(); other && announced.Size() == 0 {
		v.add(Another, nil, "the numbers come from %d to %d; the protocol draws from 1 to 10", lo, hi)
	}
}

// span returns the least and the largest number, and whether one of them is none of the
// protocol's.
func (l *League) span() (lo, hi int, other bool) {
	drawn := l.Draws()
	if len(drawn) == 0 {
		return 0, 0, false
	}
	by := func(a, b Draw) int { return cmp.Compare(a.Number, b.Number) }
	lo, hi = slices.MinFunc(drawn, by).Number, slices.MaxFunc(drawn, by).Number
	_, low := game.FairDraw().Index(lo)
	_, high := game.FairDraw().Index(hi)
	return lo, hi, !low || !high
}

// scoring: winner and points follow from the facts. Where the referee gives other points
// for the same outcome throughout, that is another rule.
func (l *League) scoring(v *Verdict) {
	points := l.points()
	if points != protocolPoints {
		v.add(Another, nil, "results give %s; the protocol %s", points, protocolPoints)
	}
	for range l.unread {
		v.unknown("a result in a form that can be read")
	}
	for _, t := range l.results {
		verdict, missing := t.facts()
		switch {
		case t.Conflict != "":
			v.examine(false, []*trace.Exchange{t.x}, "%s: the result that %s received contradicts itself: %s", t.ID, t.To, t.Conflict)
			continue
		case missing == "" && !t.Decided && len(t.Score) == 0:
			missing = "the winner, or to whom the result was sent"
		}
		if missing != "" {
			v.unknown(missing)
			continue
		}
		v.Examined++
		winner := ""
		if i := slices.Index(kinds(verdict), 0); i >= 0 {
			winner = t.Players[i]
		}
		if t.Decided && t.Winner != winner {
			v.add(Broken, []*trace.Exchange{t.x}, "%s: with %s, %s and the number %d the winner is %s, but %s received %s",
				t.ID, t.side(0), t.side(1), t.DrawnNumber.Value(), nobody(winner), t.To, nobody(t.Winner))
			continue
		}
		for i, kind := range kinds(verdict) {
			reported, ok := t.Score[t.Players[i]]
			switch {
			case !ok || reported == points[kind]:
			case verdict.Technical():
				v.another(t.x, "technical losses give other points")
			default:
				v.add(Broken, []*trace.Exchange{t.x}, "%s: %s gets %s, but %s received %d", t.ID, t.Players[i], count(points[kind], "point"), t.To, reported)
			}
		}
	}
}

// scale is what a win, a tie and a loss give.
type scale [3]int

var protocolPoints = scale{game.WinPoints, game.TiePoints, 0}

// kinds returns what both players have by a verdict, as indices of a scale.
func kinds(v game.Verdict) []int {
	kind := map[game.Result]int{game.Win: 0, game.Tie: 1, game.Loss: 2, game.TechnicalLoss: 2}
	return []int{kind[v.ResultA], kind[v.ResultB]}
}

// points returns what results give for a win, a tie and a loss: for each what most of
// them give; what the protocol gives if that is as frequent, or none says it.
func (l *League) points() scale {
	often := map[[2]int]int{} // by kind and points
	for _, t := range l.results {
		verdict, missing := t.facts()
		if missing != "" || t.Conflict != "" || verdict.Technical() {
			continue
		}
		for i, kind := range kinds(verdict) {
			if p, ok := t.Score[t.Players[i]]; ok {
				often[[2]int{kind, p}]++
			}
		}
	}
	most := protocolPoints
	for _, seen := range slices.SortedFunc(maps.Keys(often), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if kind, p := seen[0], seen[1]; often[seen] > often[[2]int{kind, most[kind]}] {
			most[kind] = p
		}
	}
	return most
}

// facts returns how a match ends by the choices and the number in a result, or what is missing to
// know it.
func (t *result) facts() (v game.Verdict, missing string) {
	number, drawn := t.DrawnNumber.Get()
	switch {
	case !t.known():
		return v, "the players of a match"
	case t.technical() && len(t.AtFault) == 0:
		return v, "who is at fault in a technical loss"
	case !t.technical() && !(t.Choices[t.Players[0]].Valid() && t.Choices[t.Players[1]].Valid()):
		return v, "the choices in a result"
	case !t.technical() && !drawn:
		return v, "the drawn number"
	}
	var choices [2]game.Parity
	for i, p := range t.Players {
		choices[i], _ = game.ParseParity(string(t.Choices[p])) // a technical loss may lack it
	}
	return t.score(choices, number, func(id string) bool { return slices.Contains(t.AtFault, id) }), ""
}

// score scores a match. It is the same for all faults.
func (m *match) score(choices [2]game.Parity, number int, atFault func(id string) bool) game.Verdict {
	var sides [2]game.Side
	for i, p := range m.Players {
		sides[i].Choice = choices[i]
		if atFault(p) {
			sides[i].Fault = game.FaultNoAnswer
		}
	}
	return game.Judge(sides[0], sides[1], number)
}

func (t *result) side(i int) string {
	player, did := t.Players[i], "at fault"
	if !slices.Contains(t.AtFault, player) {
		did = string(t.Choices[player])
	}
	return player + " " + did
}

func nobody(player string) string { return cmp.Or(player, "nobody") }

// sameResult compares two accounts of a match by what both state.
func (l *League) sameResult(v *Verdict) {
	for _, t := range l.results {
		first := t.results[0]
		if t == first || t.Conflict != "" || first.Conflict != "" {
			continue
		}
		n, drawn := first.DrawnNumber.Get()
		k, drawnToo := t.DrawnNumber.Get()
		drawn, decided := drawn && drawnToo, first.Decided && t.Decided
		if !drawn && !decided {
			v.unknown("the winner and the number, in two messages about a match")
			continue
		}
		differ := drawn && n != k || decided && first.Winner != t.Winner || first.whole && t.whole && first.Status != t.Status
		v.examine(!differ, []*trace.Exchange{first.x, t.x}, "%s: %s received %s; %s received %s", t.ID, first.To, first, t.To, t)
	}
}

// String describes a result.
func (t *result) String() string {
	s := cmp.Or(t.Status, "a result")
	if t.Decided {
		s += ", winner " + nobody(t.Winner)
	}
	if n, ok := t.DrawnNumber.Get(); ok {
		s += ", number " + strconv.Itoa(n)
	}
	return s
}

// slack is the largest error of two timestamps in whole seconds: a timestamp is
// rounded down, a deadline up.
const slack = 2 * time.Second

// offences judges players that answered their last call in time and by the book.
// Whether a referee has to take any other answer cannot be judged.
func (l *League) offences(v *Verdict) {
	for _, t := range l.results {
		for _, player := range t.Players {
			a := t.lastAnswer(player)
			technical := slices.Contains(t.AtFault, player)
			switch {
			case a == nil || t.Conflict != "":
			case technical && !t.byTheBook(a):
				v.unknown("whether the referee had to take an answer that is not by the book")
			case t.inTime(a):
				v.examine(!technical, []*trace.Exchange{a.x, t.x}, "%s: %s answered %s after %v and still got a technical loss; the referee's reason: %s",
					t.ID, player, a.choice, a.after.Round(time.Millisecond), cmp.Or(t.Reason, "none"))
			}
		}
	}
}

// lastAnswer returns the answer of a player to its last call, or nil.
func (m *match) lastAnswer(player string) *answer {
	last := m.call(func(c *choiceCall) bool { return c.player == player || c.player == "" })
	for _, a := range m.answers[player] {
		if a.call == last && last != nil {
			return a
		}
	}
	return nil
}

// inTime reports whether an answer certainly came in time: well before the deadline or,
// if the call has none, before any referee loses patience.
func (m *match) inTime(a *answer) bool {
	var given time.Duration // the longest that the referee gave the player
	for _, call := range m.calls {
		if call.player == a.player {
			given = max(given, call.given)
		}
	}
	limit := slack
	if given > 0 {
		limit = max(given-slack, given/2)
	}
	return a.call != nil && a.after <= limit
}

// deadlines goes by the referee's clock and by the recorder's.
func (l *League) deadlines(v *Verdict) {
	for _, m := range l.matches {
		for _, x := range m.exchanges {
			claim, ok := x.Request.(*protocol.GameError)
			if !ok || protocol.Code(claim.ErrorCode) != protocol.CodeTimeout || !m.has(cmp.Or(claim.AffectedPlayer, claim.PlayerID)) {
				continue
			}
			player := cmp.Or(claim.AffectedPlayer, claim.PlayerID)
			call := m.call(func(c *choiceCall) bool { return c.player == player && !c.x.At.After(x.At) })
			signed, err := protocol.ParseTimestamp(claim.Timestamp)
			if call == nil || call.given == 0 || err != nil {
				v.unknown("the deadline that a timeout is about")
				continue
			}
			early := call.deadline.Sub(signed)
			v.examine(early <= slack || x.At.Sub(call.x.At) >= call.given-slack, []*trace.Exchange{call.x, x},
				"%s: a timeout of %s was reported %v before the deadline %s", m.ID, player, early, protocol.Timestamp(call.deadline))
		}
	}
}

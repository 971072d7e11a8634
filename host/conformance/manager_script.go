package conformance

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// fixture is a match that the manager has given to a referee.
type fixture struct {
	id      string
	round   int
	players [2]string
	referee *member // guarded by the board's lock, since it may change
	by      *told   // what gave it
	ended   *ending // once it was reported
}

// fixture returns the match of an id, or nil. The lock is held.
func (s *managerSide) fixture(id string) *fixture {
	for _, f := range s.given {
		if f.id == id {
			return f
		}
	}
	return nil
}

// conductor is the referee that a match was given to last.
func (s *managerSide) conductor(f *fixture) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.referee
}

// ending is how a match ends: by the choices and the number, or by technical
// losses.
type ending struct {
	players   [2]string
	points    [2]int
	technical [2]bool
	choices   [2]protocol.Choice
	number    int
}

// kinds are the ways in which a match may end for the first of two players.
var kinds = map[byte]ending{
	'w': {points: [2]int{3, 0}, choices: [2]protocol.Choice{protocol.Even, protocol.Odd}, number: 8},
	'l': {points: [2]int{0, 3}, choices: [2]protocol.Choice{protocol.Odd, protocol.Even}, number: 2},
	'd': {points: [2]int{1, 1}, choices: [2]protocol.Choice{protocol.Odd, protocol.Odd}, number: 5},
	't': {points: [2]int{0, 3}, technical: [2]bool{true, false}, choices: [2]protocol.Choice{"", protocol.Even}},
	'x': {technical: [2]bool{true, true}},
}

// script says how the match of two of the first five players ends, for the one
// of the row against the one of the column. The order in the end is 5 1 4 2 3:
// 5 is before 1 by wins, 4 before 2 by technical losses, 2 before 3 by the number.
// Where rounds are made by the circle method, matches among the tied decide after
// the last but one.
var script = [5]string{"-dddw", "--ddt", "---dx", "----l", "-----"}

// endingOf returns how a match ends.
func (s *managerSide) endingOf(f *fixture) *ending {
	a, b := s.number(f.players[0]), s.number(f.players[1])
	kind := byte('d')
	if low, high := min(a, b), max(a, b); low >= 0 && high < len(script) && low != high {
		kind = script[low][high]
	} else if low != high {
		kind = "wldt"[(low+high)%4]
	}
	e := kinds[kind]
	if a > b {
		e = e.turned()
	}
	e.players = f.players
	return &e
}

func (e ending) turned() ending {
	slices.Reverse(e.points[:])
	slices.Reverse(e.technical[:])
	slices.Reverse(e.choices[:])
	return e
}

// number is the place of a player among those that have registered.
func (s *managerSide) number(id string) int {
	return slices.IndexFunc(s.players(), func(m *member) bool { return m.id == id })
}

// result is an ending as a report tells it.
func (e *ending) result() protocol.MatchResult {
	d := &protocol.ResultDetails{Choices: map[string]protocol.Choice{}, Status: protocol.StatusDraw}
	r := protocol.MatchResult{Winner: protocol.Null[string](), Score: map[string]int{}, Details: d}
	for i, id := range e.players {
		r.Score[id] = e.points[i]
		if e.points[i] == 3 {
			r.Winner, d.Status = protocol.Some(id), protocol.StatusWin
		}
		if e.choices[i] != "" {
			d.Choices[id] = e.choices[i]
		}
		if e.technical[i] {
			d.TechnicalLossPlayerIDs = append(d.TechnicalLossPlayerIDs, id)
		}
	}
	if d.TechnicalLossPlayerIDs != nil {
		d.Status, d.DrawnNumber, d.NumberParity = protocol.StatusTechnicalLoss, protocol.Null[int](), protocol.Null[string]()
		return r
	}
	parity := protocol.Even
	if e.number%2 == 1 {
		parity = protocol.Odd
	}
	d.DrawnNumber, d.NumberParity = protocol.Some(e.number), protocol.Some(string(parity))
	return r
}

// reporting is the report of a match by a referee.
func (p managerT) reporting(f *fixture, from *member, e *ending) *protocol.MatchResultReport {
	h := protocol.NewHeader(protocol.TypeMatchResultReport, protocol.Sender(from.role, from.id), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID, h.MatchID, h.GameType = from.token, p.league, f.id, protocol.GameEvenOdd
	if f.round > 0 {
		h.RoundID = protocol.RoundNumber(f.round)
	}
	return &protocol.MatchResultReport{Header: h, Result: e.result()}
}

// line is what the table says of a player.
type line struct {
	id                                                      string
	played, wins, draws, losses, points, technical, between int
}

// table counts what was reported, and puts it in order: by points, wins, points
// in the matches among those level on both, technical losses, and number.
func (s *managerSide) table(ends []*ending) []line {
	var lines []line
	for _, m := range s.players() {
		l := line{id: m.id}
		for _, e := range ends {
			if i := slices.Index(e.players[:], m.id); i >= 0 {
				l.count(e, i)
			}
		}
		lines = append(lines, l)
	}
	for i := range lines {
		lines[i].between = lines[i].among(lines, ends)
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(b.points-a.points, b.wins-a.wins, b.between-a.between, a.technical-b.technical, idNumber(a.id)-idNumber(b.id))
	})
	return lines
}

// count adds a match to a line.
func (l *line) count(e *ending, i int) {
	l.played++
	l.points += e.points[i]
	switch e.points[i] {
	case 3:
		l.wins++
	case 1:
		l.draws++
	default:
		l.losses++
	}
	if e.technical[i] {
		l.technical++
	}
}

// among counts the points against those who are level.
func (l *line) among(lines []line, ends []*ending) int {
	sum := 0
	for _, e := range ends {
		i := slices.Index(e.players[:], l.id)
		if i >= 0 && slices.ContainsFunc(lines, func(o line) bool {
			return o.id == e.players[1-i] && o.points == l.points && o.wins == l.wins
		}) {
			sum += e.points[i]
		}
	}
	return sum
}

var numbered = regexp.MustCompile(`^P(\d+)$`)

// idNumber is the number in a player's id; 0 for one without.
func idNumber(id string) int {
	m := numbered.FindStringSubmatch(id)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

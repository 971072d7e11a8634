package manager

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// kinds are the ways in which a match ends for the first of two players: it
// wins, loses, ties, has a technical loss, or both have one.
var kinds = map[byte]result{
	'w': {sides: [2]game.Side{{Choice: game.Even}, {Choice: game.Odd}}, number: 8},
	'l': {sides: [2]game.Side{{Choice: game.Odd}, {Choice: game.Even}}, number: 2},
	'd': {sides: [2]game.Side{{Choice: game.Odd}, {Choice: game.Odd}}, number: 5},
	't': {sides: [2]game.Side{{Fault: game.FaultNoAnswer}, {Choice: game.Even}}},
	'x': {sides: [2]game.Side{{Fault: game.FaultNoAnswer}, {Fault: game.FaultNoAnswer}}},
}

// script says how the matches of the first five players end, for the player of
// the row against that of the column. The final order is 5 1 4 2 3: 5 is before
// 1 by wins, 4 before 2 by technical losses, 2 before 3 by the number. If rounds
// are made by the circle method, matches among the tied decide after the last
// round but one.
var script = [5]string{"-dddw", "--ddt", "---dx", "----l", "-----"}

func ofKind(kind byte, players [2]string) *result {
	r := kinds[kind]
	r.players, r.verdict = players, game.Judge(r.sides[0], r.sides[1], r.number)
	return &r
}

// resultOf returns how a match ends by the script.
func (p *peers) resultOf(m *match) *result {
	a, b := p.position(m.players[0]), p.position(m.players[1])
	kind := byte('d')
	if low, high := min(a, b), max(a, b); low >= 0 && high < len(script) && low != high {
		kind = script[low][high]
	} else if low != high {
		kind = "wldt"[(low+high)%4]
	}
	r := ofKind(kind, m.players)
	if a > b {
		slices.Reverse(r.sides[:])
		r.verdict = game.Judge(r.sides[0], r.sides[1], r.number)
	}
	return r
}

// position returns the index of a player among those that registered.
func (p *peers) position(id string) int {
	return slices.IndexFunc(p.players(), func(a *agent) bool { return a.id == id })
}

// another returns a different result of the same match.
func (r *result) another() *result {
	if r.points() == [2]int{game.WinPoints, 0} {
		return ofKind('l', r.players)
	}
	return ofKind('w', r.players)
}

func (r *result) points() [2]int { return [2]int{r.verdict.PointsA, r.verdict.PointsB} }

// winner returns the id of the winner, "" without one.
func (r *result) winner() string {
	if i := slices.Index([]game.Result{r.verdict.ResultA, r.verdict.ResultB}, game.Win); i >= 0 {
		return r.players[i]
	}
	return ""
}

func (r *result) message() protocol.MatchResult {
	d := &protocol.ResultDetails{Choices: map[string]protocol.Choice{}, Status: protocol.StatusDraw}
	m := protocol.MatchResult{Winner: protocol.Null[string](), Score: map[string]int{}, Details: d}
	for i, id := range r.players {
		m.Score[id] = r.points()[i]
		if r.sides[i].Fault != game.NoFault {
			d.TechnicalLossPlayerIDs = append(d.TechnicalLossPlayerIDs, id)
		} else {
			d.Choices[id] = protocol.Choice(r.sides[i].Choice.String())
		}
	}
	if id := r.winner(); id != "" {
		m.Winner, d.Status = protocol.Some(id), protocol.StatusWin
	}
	if r.verdict.Technical() {
		d.Status, d.DrawnNumber, d.NumberParity = protocol.StatusTechnicalLoss, protocol.Null[int](), protocol.Null[string]()
	} else {
		d.DrawnNumber, d.NumberParity = protocol.Some(r.number), protocol.Some(game.ParityOf(r.number).String())
	}
	return m
}

// report returns the report of a match by a referee.
func (t T) report(m *match, from *agent, r *result) *protocol.MatchResultReport {
	h := protocol.NewHeader(protocol.TypeMatchResultReport, protocol.Sender(from.role, from.id), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID, h.MatchID, h.GameType = from.token, t.leagueID, m.id, protocol.GameEvenOdd
	if m.round > 0 {
		h.RoundID = protocol.RoundNumber(m.round)
	}
	return &protocol.MatchResultReport{Header: h, Result: r.message()}
}

// row is what the standings should say of a player.
type row struct {
	id string
	game.Row
}

// rows returns the standings after some results, in their order.
func (p *peers) rows(results []*result) []row {
	var ids []string // in the order that decides between equal records
	for _, a := range p.players() {
		ids = append(ids, a.id)
	}
	slices.SortStableFunc(ids, func(a, b string) int { return idNumber(a) - idNumber(b) })
	table := game.NewTable(len(ids))
	for _, r := range results {
		if a, b := slices.Index(ids, r.players[0]), slices.Index(ids, r.players[1]); a >= 0 && b >= 0 {
			table.Add(a, b, r.verdict)
		}
	}
	var rows []row
	for _, r := range table.Ranking() {
		rows = append(rows, row{ids[r.Seat], r})
	}
	return rows
}

var numbered = regexp.MustCompile(`^P(\d+)$`)

// idNumber returns the number in a player's id, 0 without one.
func idNumber(id string) int {
	m := numbered.FindStringSubmatch(id)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

// standing is standings that the manager sent, and what they should be.
type standing struct {
	where string // the message, or the answer to a query
	lines []kit.Fields
	want  []row
	show  func()
}

func (s standing) line(id string) kit.Fields {
	for _, f := range s.lines {
		if f.Text("player_id") == id {
			return f
		}
	}
	return nil
}

// order returns the ids in the order of their ranks.
func (s standing) order() []string {
	lines := slices.Clone(s.lines)
	slices.SortStableFunc(lines, func(a, b kit.Fields) int {
		i, _ := a.Number("rank")
		j, _ := b.Number("rank")
		return i - j
	})
	var ids []string
	for _, f := range lines {
		ids = append(ids, f.Text("player_id"))
	}
	return ids
}

// position returns the index of a player in the expected standings, -1 without.
func (s standing) position(id string) int {
	return slices.IndexFunc(s.want, func(r row) bool { return r.id == id })
}

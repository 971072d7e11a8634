package manager

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// report records a result. When it answers, the result is in the journal.
func (m *Manager) report(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	from := in.From.(caller)
	msg, err := wire.Decode[*protocol.MatchResultReport](in)
	if err != nil {
		return nil, err
	}
	var p game.Match
	var o outcome
	for {
		var before <-chan struct{}
		if p, o, before, err = m.claim(msg, from); err != nil {
			return nil, err
		}
		if before == nil {
			break
		}
		// The same match is being reported already, or goes to another referee.
		// What this report is depends on that event.
		select {
		case <-before:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	err = m.record(ctx, newReported(p.ID, from.agent.id, o, m.cfg.Now()))
	m.release(p.ID)
	if err != nil {
		return nil, err
	}
	return &protocol.MatchResultAck{
		Header: protocol.Header{
			MessageType: protocol.TypeMatchResultReport.Answer(), LeagueID: m.cfg.LeagueID, MatchID: p.ID,
			RoundID: echoed(msg.RoundID, p.Round), GameType: protocol.GameEvenOdd,
		},
		Status: protocol.StatusAccepted, Recorded: protocol.Some(true),
	}, nil
}

// echoed returns a round as the peer wrote it, or its number where it did not.
func echoed(r protocol.Round, number int) protocol.Round {
	if r.Number() == number {
		return r
	}
	return protocol.RoundNumber(number)
}

// claim judges a report and reserves its match, so that two reports at the same
// time do not both count. If another event has reserved it, claim returns what
// closes when that event is in the journal.
func (m *Manager) claim(msg *protocol.MatchResultReport, from caller) (game.Match, outcome, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	none := func(err error) (game.Match, outcome, <-chan struct{}, error) {
		return game.Match{}, outcome{}, nil, err
	}
	context := m.checkContext(msg)
	if context != nil && m.cfg.Mode == protocol.Strict {
		return none(context)
	}
	p, err := m.matchOf(msg, from)
	if err != nil {
		return none(err)
	}
	o, wrong, err := m.readReport(msg, m.state.seats[p.A].id, m.state.seats[p.B].id)
	if err != nil {
		return none(err)
	}
	if known := &m.state.matches[p.Index]; known.outcome.over() {
		return none(duplicate(p, known, o))
	}
	if before := m.reserved[p.ID]; before != nil {
		return p, o, before, nil
	}
	m.sayDiffers(from.agent, p.ID, context, wrong)
	if msg.Flaw != nil {
		m.sayDiffers(from.agent, p.ID, msg.Flaw)
	}
	m.reserve(p.ID)
	return p, o, nil, nil
}

// reserve keeps everybody else from matches while an event of theirs is on its
// way into the journal, so that events of one match stand there in the order
// in which they take effect. It is called with m.mu held.
func (m *Manager) reserve(ids ...string) {
	for _, id := range ids {
		m.reserved[id] = make(chan struct{})
	}
}

// release ends the reservation of matches.
func (m *Manager) release(ids ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		close(m.reserved[id])
		delete(m.reserved, id)
	}
}

// checkContext refuses a report for another league or of another game.
func (m *Manager) checkContext(msg *protocol.MatchResultReport) error {
	wrong := func(field, want string) error {
		e := protocol.Refuse(protocol.CodeContextMismatch, msg.MessageType, fmt.Sprintf("The %s is not that of the match; it is %s.", field, want))
		e.Violations = []protocol.Violation{{Path: "/" + field, Rule: "consistent"}}
		return e
	}
	if msg.LeagueID != "" && msg.LeagueID != m.cfg.LeagueID {
		return wrong("league_id", m.cfg.LeagueID)
	}
	if msg.GameType != "" && msg.GameType != protocol.GameEvenOdd {
		return wrong("game_type", protocol.GameEvenOdd)
	}
	if m.state.schedule == nil {
		return nil
	}
	p, known := m.state.schedule.Find(msg.MatchID)
	if known && msg.RoundID.String() != "" && msg.RoundID.Number() != p.Round {
		return wrong("round_id", fmt.Sprint(p.Round))
	}
	return nil
}

// matchOf finds the match of a report, which must be the referee's.
func (m *Manager) matchOf(msg *protocol.MatchResultReport, from caller) (game.Match, error) {
	refuse := func(detail string) (game.Match, error) {
		return game.Match{}, protocol.Refuse(protocol.CodeMatchNotFound, msg.MessageType, detail).With("match_id", msg.MatchID)
	}
	if m.state.schedule == nil {
		return refuse("The league has not started, so there are no matches yet.")
	}
	p, ok := m.state.schedule.Find(msg.MatchID)
	if !ok {
		return refuse("Unknown match; GET_SCHEDULE lists the matches.")
	}
	if referee := m.state.matches[p.Index].referee; from.agent == nil || referee != from.agent {
		return refuse("The match is not, or no longer, for the sender to report.")
	}
	return p, nil
}

// duplicate refuses a report of a match that has a result, and says whether it
// repeats that result: then its sender may take it as accepted.
func duplicate(p game.Match, known *match, o outcome) error {
	same := known.outcome == o
	detail := "The match has a result already, and this report says the same; it was recorded."
	if !same {
		detail = "The match has another result already, which stands; find out why the reports differ."
	}
	return protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, detail).
		With("match_id", p.ID).With("round_id", p.Round).
		With("previous_report_time", protocol.Timestamp(time.Unix(0, known.at).UTC())).With("same_result", same)
}

// noNumber stands for a drawn number that was not drawn, or not reported.
const noNumber int32 = -1

// outcome is how a match ended. Two reports say the same if their outcomes are
// equal. The zero value is that of a match that is not over.
type outcome struct {
	results [2]game.Result // of A and B
	choices [2]game.Parity // as far as they were made and reported
	number  int32
}

func (o outcome) over() bool { return o.results[0] != game.NoResult }

// verdict scores the outcome by the rules.
func (o outcome) verdict() game.Verdict {
	return game.Verdict{
		ResultA: o.results[0], PointsA: pointsOf(o.results[0]),
		ResultB: o.results[1], PointsB: pointsOf(o.results[1]),
	}
}

func pointsOf(r game.Result) int {
	switch r {
	case game.Win:
		return game.WinPoints
	case game.Tie:
		return game.TiePoints
	}
	return 0
}

// played reports whether everything is known that decides a match without
// faults.
func (o outcome) played() bool {
	return o.choices[0] != game.NoParity && o.choices[1] != game.NoParity && o.number != noNumber
}

// check holds the outcome to the rules of the game.
func (o outcome) check() error {
	fair := o.verdict()
	switch {
	case fair.Technical():
		if o.number != noNumber {
			return errors.New("a technical loss draws no number")
		}
		fair = game.Judge(o.fault(0), o.fault(1), 0)
	case o.played():
		fair = game.Judge(game.Side{Choice: o.choices[0]}, game.Side{Choice: o.choices[1]}, int(o.number))
	case fair.ResultA == game.Tie && fair.ResultB == game.Tie,
		fair.ResultA == game.Win && fair.ResultB == game.Loss,
		fair.ResultA == game.Loss && fair.ResultB == game.Win:
		return nil
	default:
		return errors.New("the results of the two players do not go together")
	}
	if fair != o.verdict() {
		return fmt.Errorf("by the rules it is %s and %s, not %s and %s", fair.ResultA, fair.ResultB, o.results[0], o.results[1])
	}
	return nil
}

// fault returns the side of a player for a verdict by technical loss. Which
// fault it was does not matter for the score.
func (o outcome) fault(i int) game.Side {
	if o.results[i] == game.TechnicalLoss {
		return game.Side{Fault: game.FaultError}
	}
	return game.Side{Choice: o.choices[i]}
}

// readOutcome reads the facts of a result between a and b, scores them by the rules
// and holds the report to the score. Where strict is not set, a win or a draw
// may come without choices or number, and is then taken at its word.
func readOutcome(m *protocol.MatchResultReport, a, b string, draw game.Draw, strict bool) (outcome, error) {
	told, err := dialect.ReportedOutcome(m, a, b)
	if err != nil {
		return outcome{}, err
	}
	o, err := readFacts(told, [2]string{a, b})
	if err != nil {
		return outcome{}, err
	}
	technical := o.verdict().Technical()
	if n, drawn := told.Drawn.Get(); drawn && !technical {
		if _, can := draw.Index(n); !can || n > math.MaxInt32 {
			return outcome{}, mismatch("drawn_number", fmt.Sprintf("the number %d cannot be drawn; the draw is %s", n, draw))
		}
		o.number = int32(n)
	}
	if strict && !technical && !o.played() {
		return outcome{}, mismatch("choices", "a match that was played has a number and both players' choices")
	}
	if err := o.check(); err != nil {
		return outcome{}, mismatch("winner", err.Error())
	}
	return o, checkConsistency(m, told, o, [2]string{a, b})
}

// readFacts reads the choices and results of both players.
func readFacts(told dialect.Outcome, ids [2]string) (outcome, error) {
	o := outcome{number: noNumber}
	for id, choice := range told.Choices {
		parity, err := game.ParseParity(string(choice))
		switch {
		case id != ids[0] && id != ids[1]:
			return outcome{}, mismatch("choices", "a choice of somebody who is not in the match")
		case err != nil: // a placeholder
		case id == ids[0]:
			o.choices[0] = parity
		default:
			o.choices[1] = parity
		}
	}
	if told.Status == protocol.StatusDraw {
		o.results = [2]game.Result{game.Tie, game.Tie}
		return o, nil
	}
	for i, id := range ids {
		o.results[i] = game.Loss
		if slices.Contains(told.Offenders, id) {
			o.results[i] = game.TechnicalLoss
		}
		if told.Winner == id {
			o.results[i] = game.Win
		}
	}
	return o, nil
}

// checkConsistency reports what a report says besides the facts and does not follow from
// them.
func checkConsistency(m *protocol.MatchResultReport, told dialect.Outcome, o outcome, ids [2]string) error {
	v := o.verdict()
	points := [2]int{v.PointsA, v.PointsB}
	if told.Score != nil {
		if len(told.Score) != len(ids) {
			return mismatch("score", "it names other players than the match")
		}
		for i, id := range ids {
			if got, named := told.Score[id]; !named || got != points[i] {
				return mismatch("score", fmt.Sprintf("by the rules %s gets %d points", id, points[i]))
			}
		}
	}
	if details := m.Result.Details; details != nil && o.number != noNumber {
		want := game.ParityOf(int(o.number)).String()
		if got := details.NumberParity.Value(); got != "" && got != want {
			return mismatch("number_parity", fmt.Sprintf("%d is %s", o.number, want))
		}
	}
	return nil
}

// mismatch refuses a report that contradicts itself or the rules.
func mismatch(field, what string) *protocol.Error {
	e := protocol.Refuse(protocol.CodeContextMismatch, protocol.TypeMatchResultReport,
		fmt.Sprintf("The result does not add up: %s.", what))
	return e.With("field", field)
}

// outcome reads the outcome back from the event and validates it against the rules.
func (e *reported) outcome() (outcome, error) {
	o := outcome{number: noNumber}
	for i, told := range []side{e.A, e.B} {
		var err error
		if o.results[i], err = parseResult(told.Result); err != nil {
			return outcome{}, err
		}
		if told.Choice == "" {
			continue
		}
		if o.choices[i], err = game.ParseParity(told.Choice); err != nil {
			return outcome{}, err
		}
	}
	if e.Number != nil {
		o.number = int32(*e.Number)
	}
	return o, o.check()
}

func newReported(id, referee string, o outcome, at time.Time) *reported {
	e := &reported{
		Match: id, Referee: referee, At: at,
		A: side{o.results[0].String(), o.choices[0].String()},
		B: side{o.results[1].String(), o.choices[1].String()},
	}
	if o.number != noNumber {
		number := int(o.number)
		e.Number = &number
	}
	return e
}

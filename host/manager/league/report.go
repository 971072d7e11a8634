package league

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Report returns the event that a report by a referee leads to. A tolerant league takes
// whatever the referee of a match says of it, and flaws is what is wrong with the report
// all the same; those that are nil are none. The error is a *protocol.Error.
func (s *State) Report(msg *protocol.MatchResultReport, from *Member, now time.Time) (e *Reported, flaws []*protocol.Error, err error) {
	context := s.checkContext(msg)
	if context != nil && s.Rules.Mode == protocol.Strict {
		return nil, nil, context
	}
	p, known := s.Find(msg.MatchID)
	detail := ""
	switch {
	case s.Schedule == nil:
		detail = "The league has not started, so there are no matches yet."
	case !known:
		detail = "Unknown match; GET_SCHEDULE lists the matches."
	case from == nil || s.Referee(p) != from:
		detail = "The match is not, or no longer, for the sender to report."
	}
	if detail != "" {
		return nil, nil, protocol.Refuse(protocol.CodeMatchNotFound, msg.MessageType, detail).With("match_id", msg.MatchID)
	}
	o, wrong, err := s.readReport(msg, [2]string{s.Seats[p.A].ID, s.Seats[p.B].ID})
	if err != nil {
		return nil, nil, err
	}
	if m := &s.matches[p.Index]; m.outcome.over() {
		return nil, nil, m.duplicate(p, o)
	}
	return newReported(p.ID, from.ID, o, now), []*protocol.Error{context, wrong, msg.Flaw}, nil
}

// checkContext refuses a report for another league or of another game.
func (s *State) checkContext(msg *protocol.MatchResultReport) *protocol.Error {
	wrong := func(field, want string) *protocol.Error {
		return protocol.Refuse(protocol.CodeContextMismatch, msg.MessageType,
			fmt.Sprintf("The %s is not that of the match; it is %s.", field, want), protocol.Violation{Path: "/" + field, Rule: "consistent"})
	}
	p, known := s.Find(msg.MatchID)
	switch {
	case msg.LeagueID != "" && msg.LeagueID != s.ID:
		return wrong("league_id", s.ID)
	case msg.GameType != "" && msg.GameType != protocol.GameEvenOdd:
		return wrong("game_type", protocol.GameEvenOdd)
	case known && msg.RoundID.String() != "" && msg.RoundID.Number() != p.Round:
		return wrong("round_id", fmt.Sprint(p.Round))
	}
	return nil
}

// duplicate refuses a report of a match that has a result, and says whether it
// repeats that result: then its sender may take it as accepted.
func (m *match) duplicate(p game.Match, o outcome) *protocol.Error {
	same := m.outcome == o
	detail := "The match has a result already, and this report says the same; it was recorded."
	if !same {
		detail = "The match has another result already, which stands; find out why the reports differ."
	}
	return protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, detail).
		With("match_id", p.ID).With("round_id", p.Round).
		With("previous_report_time", protocol.Timestamp(time.Unix(0, m.at).UTC())).With("same_result", same)
}

// readReport reads the outcome of a report. Where what it says beside the winner does not add up, a
// tolerant league takes it at its word, and returns what is wrong as well.
func (s *State) readReport(msg *protocol.MatchResultReport, ids [2]string) (o outcome, wrong *protocol.Error, err error) {
	strict := s.Rules.Mode == protocol.Strict
	o, err = readOutcome(msg, ids, s.Rules.Draw, strict)
	if err == nil || strict {
		return o, nil, err
	}
	word := wordOf(msg, ids)
	// Other leagues draw other numbers, and count other points: it may still be right
	// about who won by which choices.
	facts, choices, details := *word, *word, *word.Result.Details
	if d := msg.Result.Details; d != nil {
		details.Choices, details.TechnicalLossPlayerIDs = d.Choices, d.TechnicalLossPlayerIDs
		all := details
		all.DrawnNumber = d.DrawnNumber
		facts.Result.Details = &all
	}
	choices.Result.Details = &details
	for _, less := range []*protocol.MatchResultReport{&facts, &choices, word} {
		if again, failed := readOutcome(less, ids, game.Draw{}, false); failed == nil {
			wrong, _ = errors.AsType[*protocol.Error](err)
			return again, wrong, nil
		}
	}
	return o, nil, err
}

// wordOf returns a report of nothing but who won, or lost by technical loss.
func wordOf(msg *protocol.MatchResultReport, ids [2]string) *protocol.MatchResultReport {
	word, details := *msg, new(protocol.ResultDetails)
	if d := msg.Result.Details; d != nil {
		details.Status = strings.ToUpper(d.Status)
	}
	winner, score := msg.Result.Winner.Value(), msg.Result.Score
	switch {
	case details.Status == protocol.StatusTechnicalLoss:
	case winner != "" && !strings.EqualFold(winner, protocol.StatusDraw):
		details.Status = protocol.StatusWin
	case score != nil && score[ids[0]] == 0 && score[ids[1]] == 0:
		details.Status = protocol.StatusTechnicalLoss
	default:
		details.Status = protocol.StatusDraw
	}
	word.Result = protocol.MatchResult{Winner: msg.Result.Winner, Details: details}
	return &word
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
	points := [...]int{game.Win: game.WinPoints, game.Tie: game.TiePoints, game.TechnicalLoss: 0}
	return game.Verdict{
		ResultA: o.results[0], PointsA: points[o.results[0]],
		ResultB: o.results[1], PointsB: points[o.results[1]],
	}
}

// played reports whether everything is known that decides a match without faults.
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
		fair = game.Judge(o.side(0), o.side(1), 0)
	case o.played():
		fair = game.Judge(o.side(0), o.side(1), int(o.number))
	case fair.PointsA+fair.PointsB == game.WinPoints, fair.PointsA == game.TiePoints && fair.PointsB == game.TiePoints:
		return nil
	default:
		return errors.New("the results of the two players do not go together")
	}
	if fair != o.verdict() {
		return fmt.Errorf("by the rules it is %s and %s, not %s and %s", fair.ResultA, fair.ResultB, o.results[0], o.results[1])
	}
	return nil
}

// side returns the side of a player for a verdict. Which fault it was does not matter
// for the score.
func (o outcome) side(i int) game.Side {
	if o.results[i] == game.TechnicalLoss {
		return game.Side{Fault: game.FaultError}
	}
	return game.Side{Choice: o.choices[i]}
}

// readOutcome reads the facts of a result, scores them by the rules and holds the report
// to the score. The empty draw stands for any. Where strict is not set, a win or a draw may come without choices or
// number, and is then taken at its word.
func readOutcome(m *protocol.MatchResultReport, ids [2]string, draw game.Draw, strict bool) (outcome, error) {
	told, err := dialect.ReportedOutcome(m, ids[0], ids[1])
	if err != nil {
		return outcome{}, err
	}
	o := outcome{number: noNumber}
	for id, choice := range told.Choices {
		i := slices.Index(ids[:], id)
		if i < 0 {
			return o, mismatch("choices", "a choice of somebody who is not in the match")
		}
		o.choices[i], _ = game.ParseParity(string(choice)) // anything else is a placeholder
	}
	for i, id := range ids {
		switch {
		case told.Status == protocol.StatusDraw:
			o.results[i] = game.Tie
		case told.Winner == id:
			o.results[i] = game.Win
		case slices.Contains(told.TechnicalLossPlayerIDs, id):
			o.results[i] = game.TechnicalLoss
		default:
			o.results[i] = game.Loss
		}
	}
	technical := o.verdict().Technical()
	if n, drawn := told.DrawnNumber.Get(); drawn && !technical {
		if _, can := draw.Index(n); !can && draw.Size() > 0 || n < 0 || n > math.MaxInt32 {
			return o, mismatch("drawn_number", fmt.Sprintf("the number %d cannot be drawn; the draw is %s", n, draw))
		}
		o.number = int32(n)
	}
	if strict && !technical && !o.played() {
		return o, mismatch("choices", "a match that was played has a number and both players' choices")
	}
	if err := o.check(); err != nil {
		return o, mismatch("winner", err.Error())
	}
	return o, o.checkConsistency(m, told, ids)
}

// checkConsistency reports what a report says besides the facts and does not follow from them.
func (o outcome) checkConsistency(m *protocol.MatchResultReport, told dialect.Outcome, ids [2]string) error {
	v := o.verdict()
	for i, points := range [2]int{v.PointsA, v.PointsB} {
		if told.Score == nil {
			break
		}
		if len(told.Score) != len(ids) {
			return mismatch("score", "it names other players than the match")
		}
		if got, named := told.Score[ids[i]]; !named || got != points {
			return mismatch("score", fmt.Sprintf("by the rules %s gets %d points", ids[i], points))
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
func mismatch(field, what string) error {
	return protocol.Refuse(protocol.CodeContextMismatch, protocol.TypeMatchResultReport,
		fmt.Sprintf("The result does not add up: %s.", what)).With("field", field)
}

// outcome reads the outcome back from the event and validates it against the rules.
func (e *Reported) outcome() (outcome, error) {
	o := outcome{number: noNumber}
	for i, told := range []side{e.A, e.B} {
		for _, r := range []game.Result{game.Win, game.Tie, game.Loss, game.TechnicalLoss} {
			if r.String() == told.Result {
				o.results[i] = r
			}
		}
		if o.results[i] == game.NoResult {
			return o, fmt.Errorf("there is no result %q", told.Result)
		}
		var err error
		if o.choices[i], err = game.ParseParity(told.Choice); told.Choice != "" && err != nil {
			return o, err
		}
	}
	if e.Number != nil {
		o.number = int32(*e.Number)
	}
	return o, o.check()
}

func newReported(id, referee string, o outcome, at time.Time) *Reported {
	e := &Reported{
		Match: id, Referee: referee, At: at,
		A: side{o.results[0].String(), o.choices[0].String()},
		B: side{o.results[1].String(), o.choices[1].String()},
	}
	if o.number != noNumber {
		e.Number = new(int(o.number))
	}
	return e
}

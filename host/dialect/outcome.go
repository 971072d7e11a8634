package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// An Outcome is how a match ended, whichever form the referee used.
type Outcome struct {
	// Status is StatusWin, StatusDraw or StatusTechnicalLoss.
	Status string
	// Winner is the id of the winner, empty without one.
	Winner string
	// Drawn is the number drawn; absent after a technical loss.
	Drawn protocol.Opt[int]
	// Choices holds the choices that were made, by player.
	Choices map[string]protocol.Choice
	// Score holds the points by player; nil where the referee gave none.
	Score map[string]int
	// Offenders are the players at fault in a technical loss, sorted.
	Offenders []string
	// Reason is the referee's sentence about it.
	Reason string
}

// ReportedOutcome reads a reported result between the players a and b. A missing
// status is derived: a winner without two choices and a number means a technical
// loss of the other; no winner and no points, of both; no winner otherwise, a
// tie. Offenders that are not named are the loser or, without a winner, both.
//
// The error says how the report contradicts itself: a winner who is neither
// player, a win without a winner, a tie with one.
func ReportedOutcome(m *protocol.MatchResultReport, a, b string) (Outcome, error) {
	details := m.Result.Details
	if details == nil {
		details = new(protocol.ResultDetails)
	}
	o := Outcome{
		Status: strings.ToUpper(details.Status), Winner: m.Result.Winner.Value(),
		Drawn: details.DrawnNumber, Choices: details.Choices, Score: m.Result.Score,
		Offenders: details.TechnicalLossPlayerIDs, Reason: details.Reason,
	}
	if protocol.Means(protocol.Nobody, o.Winner) {
		o.Winner = ""
	}
	if o.Status == "" {
		o.Status = o.derived(a, b)
	}
	return o.settled(m.MessageType, a, b)
}

// ToldOutcome reads a result sent to the player self about a match against
// opponent, in any form that referees use: for the match or for the player,
// nested or flat. A status of LOSS is the opponent's win. Missing fields and
// errors are as in [ReportedOutcome].
func ToldOutcome(m *protocol.GameOver, self, opponent string) (Outcome, error) {
	r := m.GameResult
	if r == nil {
		r = &protocol.GameResult{
			Status: m.Result, DrawnNumber: m.DrawnNumber, PlayerChoices: m.PlayerChoices, Reason: m.Reason,
		}
	}
	o := Outcome{
		Status: strings.ToUpper(r.Status), Winner: r.WinnerPlayerID.Value(), Drawn: r.DrawnNumber,
		Choices: r.Choices, Offenders: r.TechnicalLossPlayerIDs, Reason: r.Reason,
	}
	if o.Choices == nil {
		o.Choices = r.PlayerChoices
	}
	if o.Choices == nil {
		o.Choices = flatChoices(m, self, opponent)
	}
	if o.Reason == "" {
		o.Reason = m.Reason
	}
	if points, told := m.PointsEarned.Get(); told {
		o.Score = map[string]int{self: points}
	}
	if protocol.Means(protocol.Nobody, o.Winner) {
		o.Winner = ""
	}
	switch {
	case o.Status == "":
		o.Status = o.derived(self, opponent)
	case protocol.Means(protocol.Winning, o.Status):
		o.Status = protocol.StatusWin
		if o.Winner == "" {
			o.Winner = self
		}
	case protocol.Means(protocol.Drawing, o.Status):
		o.Status = protocol.StatusDraw
	case protocol.Means(protocol.Losing, o.Status):
		o.Status = protocol.StatusWin
		if o.Winner == "" {
			o.Winner = opponent
		}
	}
	return o.settled(m.MessageType, self, opponent)
}

// Opponent returns the other player that the result names, "" if it names none.
func Opponent(m *protocol.GameOver, self string) string {
	lists := []map[string]protocol.Choice{m.PlayerChoices}
	if r := m.GameResult; r != nil {
		lists = append(lists, r.Choices, r.PlayerChoices)
		if w := r.WinnerPlayerID.Value(); w != self && !protocol.Means(protocol.Nobody, w) {
			return w
		}
	}
	for _, choices := range lists {
		for _, id := range slices.Sorted(maps.Keys(choices)) {
			if id != self {
				return id
			}
		}
	}
	return ""
}

// flatChoices returns the choices of the flat form, nil without any.
func flatChoices(m *protocol.GameOver, self, opponent string) map[string]protocol.Choice {
	choices := make(map[string]protocol.Choice, 2)
	if m.YourChoice != "" {
		choices[self] = m.YourChoice
	}
	if m.OpponentChoice != "" {
		choices[opponent] = m.OpponentChoice
	}
	if len(choices) == 0 {
		return nil
	}
	return choices
}

// derived returns the status of a result without one.
func (o Outcome) derived(a, b string) string {
	_, drawn := o.Drawn.Get()
	played := drawn && o.Choices[a] != "" && o.Choices[b] != ""
	switch {
	case o.Winner != "" && (played || o.Choices == nil && drawn):
		return protocol.StatusWin
	case o.Winner != "":
		return protocol.StatusTechnicalLoss
	case o.Score != nil && o.Score[a] == 0 && o.Score[b] == 0:
		return protocol.StatusTechnicalLoss
	default:
		return protocol.StatusDraw
	}
}

// settled fills in the offenders of a technical loss and checks that the outcome
// is consistent.
func (o Outcome) settled(t protocol.Type, a, b string) (Outcome, error) {
	wrong := func(what string) (Outcome, error) {
		return o, protocol.Refuse(protocol.CodeContextMismatch, t, fmt.Sprintf("The result of %s against %s contradicts itself: %s.", a, b, what))
	}
	switch {
	case o.Winner != "" && o.Winner != a && o.Winner != b:
		return wrong("the winner " + o.Winner + " is neither of them")
	case o.Status == protocol.StatusWin && o.Winner == "":
		return wrong("a win without a winner")
	case o.Status == protocol.StatusDraw && o.Winner != "":
		return wrong("a draw with a winner")
	case o.Status != protocol.StatusWin && o.Status != protocol.StatusDraw && o.Status != protocol.StatusTechnicalLoss:
		return wrong("there is no status " + o.Status)
	}
	if o.Status != protocol.StatusTechnicalLoss {
		o.Offenders = nil
		return o, nil
	}
	if len(o.Offenders) == 0 {
		o.Offenders = []string{a, b}
		if o.Winner != "" {
			o.Offenders = slices.DeleteFunc(o.Offenders, func(id string) bool { return id == o.Winner })
		}
	}
	o.Offenders = slices.Sorted(slices.Values(o.Offenders))
	for _, id := range o.Offenders {
		if id != a && id != b || id == o.Winner {
			return wrong(id + " cannot be at fault")
		}
	}
	return o, nil
}

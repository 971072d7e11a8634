package dialect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// An Outcome is how a match ended, whichever form the referee used.
type Outcome struct {
	// Status is StatusWin, StatusDraw or StatusTechnicalLoss; empty where the message
	// does not say how the match ended, and nothing that it says shows it.
	Status    string
	Winner    string                     // id, empty without one
	Drawn     protocol.Opt[int]          // the number; absent after a technical loss
	Choices   map[string]protocol.Choice // that were made, by player
	Score     map[string]int             // points by player; nil where the referee gave none
	Offenders []string                   // the players at fault in a technical loss, sorted
	Reason    string                     // the referee's sentence about it
}

// ReportedOutcome reads a reported result between the players a and b. A missing status follows
// from the facts: two choices and the number give the result; a winner is a win, or a technical
// loss where offenders are named or only the winner has chosen; no winner and no points are a
// technical loss of both, and no winner by the message's own word is a tie. Offenders that are not
// named are the loser or, without a winner, both.
//
// The error says how the report contradicts itself: a winner who is neither player, a win without a
// winner, a tie with one.
func ReportedOutcome(m *protocol.MatchResultReport, a, b string) (Outcome, error) {
	o := stated(m.Stated(), m.Result.Score)
	o.call(func(id string) string { return protocol.PlayerOf(id, a, b) })
	if o.Status == "" {
		o.derive(a, b, m.Result.Winner != protocol.Opt[string]{})
	}
	return o.settled(m.MessageType, a, b)
}

// stated returns what a result states, in its own words.
func stated(r protocol.GameResult, score map[string]int) Outcome {
	return Outcome{
		Status: strings.ToUpper(r.Status), Winner: r.WinnerPlayerID.Value(), Drawn: r.DrawnNumber,
		Choices: r.Choices, Score: score, Offenders: r.TechnicalLossPlayerIDs, Reason: r.Reason,
	}
}

// OutcomeFor reads a result sent to the player self about a match against opponent, in any form
// that referees use: for the match or for the player, nested or flat. A status of LOSS is the
// opponent's win. Missing fields and errors are as in [ReportedOutcome]. Role is that of the player
// self, and name its display name, for a result that names players by them.
func OutcomeFor(m *protocol.GameOver, self, name, opponent string, role game.Role) (Outcome, error) {
	r := m.Stated(self, opponent)
	o := stated(r, nil)
	if points, given := m.PointsEarned.Get(); given {
		o.Score = map[string]int{self: points}
	}
	winner, named := protocol.WinnerIn(r.Status)
	if named && o.Winner == "" { // in the status
		o.Status, o.Winner = protocol.StatusWin, winner
	}
	sides := map[game.Role][2]string{game.RoleA: {self, opponent}, game.RoleB: {opponent, self}}[role]
	o.call(func(id string) string {
		if id = protocol.PlayerOf(id, sides[0], sides[1]); id == name && name != "" {
			return self
		}
		return id
	})
	if _, own := o.Choices[self]; own && len(o.Choices) == 2 {
		o.call(func(id string) string {
			if _, chose := o.Choices[id]; chose && id != self {
				return opponent
			}
			return id
		})
	}
	switch {
	case protocol.Means(protocol.Winning, o.Status):
		o.Status, o.Winner = protocol.StatusWin, cmp.Or(o.Winner, self)
	case protocol.Means(protocol.Drawing, o.Status):
		o.Status = protocol.StatusDraw
	case protocol.Means(protocol.Losing, o.Status):
		o.Status, o.Winner = protocol.StatusWin, cmp.Or(o.Winner, opponent)
	case o.Status != protocol.StatusTechnicalLoss: // none, or a word of its own
		o.Status = ""
		o.derive(self, opponent, r.WinnerPlayerID != protocol.Opt[string]{})
	}
	return o.settled(m.MessageType, self, opponent)
}

// Opponent returns the other player that the result names, "" if it names none but by roles.
func Opponent(m *protocol.GameOver, self string) string {
	r := m.Stated("", "")
	for _, id := range append([]string{r.WinnerPlayerID.Value()}, slices.Sorted(maps.Keys(r.Choices))...) {
		if id = protocol.PlayerOf(id, self, self); id != self && !protocol.Means(protocol.Nobody, id) {
			return id
		}
	}
	return ""
}

// call gives the players the ids that a function has for what the outcome calls them, such as
// their roles, and reads nobody and choices in any spelling.
func (o *Outcome) call(id func(string) string) {
	if protocol.Means(protocol.Nobody, o.Winner) {
		o.Winner = ""
	}
	o.Winner = id(o.Winner)
	if o.Choices == nil {
		return // nothing is said of them
	}
	choices := make(map[string]protocol.Choice, len(o.Choices))
	for name, choice := range o.Choices {
		choices[id(name)] = protocol.Choice(strings.ToLower(string(choice)))
	}
	o.Choices = choices
}

// derive finds the status, and where choices and number show it the winner, of a result without a
// status. Said is whether the message says who has won, or that nobody has.
func (o *Outcome) derive(a, b string, said bool) {
	first, err := game.ParseParity(string(o.Choices[a]))
	second, failed := game.ParseParity(string(o.Choices[b]))
	number, drawn := o.Drawn.Get()
	played := err == nil && failed == nil
	switch {
	case o.Winner != "" && (len(o.Offenders) > 0 || o.Choices != nil && !played):
		o.Status = protocol.StatusTechnicalLoss
	case o.Winner != "":
		o.Status = protocol.StatusWin
	case len(o.Offenders) > 0:
		o.Status = protocol.StatusTechnicalLoss
	case played && drawn && first != second:
		o.Status, o.Winner = protocol.StatusWin, a
		if game.ParityOf(number) == second {
			o.Winner = b
		}
	case played && drawn:
		o.Status = protocol.StatusDraw
	case o.Score != nil && o.Score[a] == 0 && o.Score[b] == 0:
		o.Status = protocol.StatusTechnicalLoss
	case said, played && first == second:
		o.Status = protocol.StatusDraw
	}
}

// ByFacts returns who of a and b has won by the choices and the number that the outcome
// holds, "" for nobody, and whether it holds them.
func (o Outcome) ByFacts(a, b string) (winner string, known bool) {
	facts := Outcome{Drawn: o.Drawn, Choices: o.Choices}
	facts.derive(a, b, false)
	return facts.Winner, facts.Status == protocol.StatusWin || facts.Status == protocol.StatusDraw
}

// settled fills in the offenders of a technical loss and checks that the outcome is consistent.
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
	case o.Status != "" && o.Status != protocol.StatusWin && o.Status != protocol.StatusDraw && o.Status != protocol.StatusTechnicalLoss:
		return wrong("there is no status " + o.Status)
	}
	if o.Status != protocol.StatusTechnicalLoss {
		o.Offenders = nil
		return o, nil
	}
	if len(o.Offenders) == 0 {
		o.Offenders = slices.DeleteFunc([]string{a, b}, func(id string) bool { return id == o.Winner })
	}
	o.Offenders = slices.Sorted(slices.Values(o.Offenders))
	for _, id := range o.Offenders {
		if id != a && id != b || id == o.Winner {
			return wrong(id + " cannot be at fault")
		}
	}
	return o, nil
}

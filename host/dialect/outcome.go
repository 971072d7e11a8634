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

// An Outcome is how a match ended, whichever form the referee used: its Status is StatusWin, StatusDraw or
// StatusTechnicalLoss, or empty where nothing that the message says shows how the match ended. The players
// at fault in a technical loss are sorted.
type Outcome struct {
	protocol.GameResult                // Choices and TechnicalLossPlayerIDs name the players by their ids
	Winner              string         // id, empty without one
	Score               map[string]int // points by player; nil where the referee gave none
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
	o := Outcome{GameResult: m.Stated(), Winner: m.Result.Winner.Value(), Score: m.Result.Score}
	o.call(func(id string) string { return protocol.PlayerOf(id, a, b) })
	if o.Status == "" {
		o.derive(a, b)
	}
	return o.settled(m.MessageType, a, b)
}

// OutcomeFor reads a result sent to the player self about a match against opponent, in any form
// that referees use: for the match or for the player, nested or flat. A status of LOSS is the
// opponent's win. Missing fields and errors are as in [ReportedOutcome]. Role is that of the player
// self, and name its display name, for a result that names players by them.
func OutcomeFor(m *protocol.GameOver, self, name, opponent string, role game.Role) (Outcome, error) {
	r := m.Stated(self, opponent)
	o := Outcome{GameResult: r, Winner: r.WinnerPlayerID.Value()}
	if points, given := m.PointsEarned.Get(); given {
		o.Score = map[string]int{self: points}
	}
	if winner, named := protocol.WinnerIn(r.Status); named && o.Winner == "" { // in the status
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
		o.derive(self, opponent)
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
// their roles, and reads nobody, choices and the status in any spelling.
func (o *Outcome) call(id func(string) string) {
	o.Status = strings.ToUpper(o.Status)
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
// status. That nobody has won counts where the message says so.
func (o *Outcome) derive(a, b string) {
	first, err := game.ParseParity(string(o.Choices[a]))
	second, failed := game.ParseParity(string(o.Choices[b]))
	number, drawn := o.DrawnNumber.Get()
	played := err == nil && failed == nil
	switch {
	case len(o.TechnicalLossPlayerIDs) > 0, o.Winner != "" && o.Choices != nil && !played:
		o.Status = protocol.StatusTechnicalLoss
	case o.Winner != "":
		o.Status = protocol.StatusWin
	case played && drawn && first != second:
		o.Status, o.Winner = protocol.StatusWin, a
		if game.ParityOf(number) == second {
			o.Winner = b
		}
	case played && drawn:
		o.Status = protocol.StatusDraw
	case o.Score != nil && o.Score[a] == 0 && o.Score[b] == 0:
		o.Status = protocol.StatusTechnicalLoss
	case o.WinnerPlayerID != protocol.Opt[string]{}, played && first == second:
		o.Status = protocol.StatusDraw
	}
}

// ByFacts returns who of a and b has won by the choices and the number that the outcome
// holds, "" for nobody, and whether it holds them.
func (o Outcome) ByFacts(a, b string) (winner string, known bool) {
	var facts Outcome
	facts.DrawnNumber, facts.Choices = o.DrawnNumber, o.Choices
	facts.derive(a, b)
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
		o.TechnicalLossPlayerIDs = nil
		return o, nil
	}
	if len(o.TechnicalLossPlayerIDs) == 0 {
		o.TechnicalLossPlayerIDs = slices.DeleteFunc([]string{a, b}, func(id string) bool { return id == o.Winner })
	}
	o.TechnicalLossPlayerIDs = slices.Sorted(slices.Values(o.TechnicalLossPlayerIDs))
	for _, id := range o.TechnicalLossPlayerIDs {
		if id != a && id != b || id == o.Winner {
			return wrong(id + " cannot be at fault")
		}
	}
	return o, nil
}

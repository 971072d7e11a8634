// Package screen has the words of a live league for its terminal: each event of its agents as
// a line, what went wrong at the end, and the answers to queries.
package screen

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/audit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// Managed describes an event of a manager in a line; empty for one that is for programs only.
// knows reports whether the errors of a player's strategy are known without its telling.
func Managed(e manager.Event, knows func(name string) bool) (text string) {
	switch e.Kind {
	case manager.MessageRefused:
		text = refusedText(e)
	case manager.AgentRegistered:
		text = fmt.Sprintf("%-5s %s registered%s%s", e.Agent, e.Name, map[bool]string{true: " again"}[e.Again], inDialect(e.Dialect))
	case manager.AgentState:
		if e.State == league.Suspended {
			text = fmt.Sprintf("%-5s %s does not answer; retrying", e.Agent, e.Name)
		}
	case manager.PlayerStatusSet:
		text = organizedText(e)
	case manager.PaceSet:
		text = pacedText(e)
	case manager.LeagueStarted:
		text = fmt.Sprintf("the league starts: %s", words.Plain.Plural(int64(e.Total), "round")) + heldText(e)
	case manager.LeagueResumed:
		text = resumedText(e)
	case manager.RefereeUnable:
		text = fmt.Sprintf("%-5s %s cannot be made to conduct %v (%s); they go to another referee, or wait for one to register", e.Agent, e.Name, e.Matches, e.Error)
	case manager.RefereeQuiet:
		text = fmt.Sprintf("%-5s %s has acknowledged %v and reports %s; if it wants to be assigned matches in another form, --validation tolerant finds it", e.Agent, e.Name, e.Matches, e.Error)
	case manager.MatchesReassigned:
		text = fmt.Sprintf("round %d: %v reassigned to another referee", e.Round, e.Matches)
	case manager.ReportDiffers:
		text = fmt.Sprintf("%-7s the report of %s counts, but: %s", strings.Join(e.Matches, " "), e.Agent, e.Error)
	case manager.StrategyFailed:
		if !knows(e.Name) {
			text = fmt.Sprintf("%-5s %s: the strategy failed in round %d: %s", e.Agent, e.Name, e.Round, words.Printable(e.Error))
		}
	case manager.MatchReported:
		text = matchLine(*e.Match)
	case manager.RoundCompleted:
		text = fmt.Sprintf("round %d of %d is complete", e.Round, e.Total)
	}
	return text
}

func matchLine(m league.Match) string {
	var sides [2]string
	for i, id := range m.Players {
		choice := m.Choices[i].String()
		if m.Results[i] == game.TechnicalLoss {
			choice = "technical loss"
		}
		sides[i] = fmt.Sprintf("%s %-4s", id, choice)
	}
	drawn := "no number"
	if m.Drawn {
		drawn = fmt.Sprintf("drawn %d", m.Number)
	}
	return fmt.Sprintf("%-7s %s  %s  %-8s  %d:%d", m.ID, sides[0], sides[1], drawn, m.Points[0], m.Points[1])
}

// Table writes the final standings.
func Table(w io.Writer, standings []league.Standing) {
	fmt.Fprintln(w)
	columns(w, tabwriter.AlignRight, "place player name played won tied lost technical points", func(row func(...any)) {
		for _, s := range standings {
			row(s.Rank, s.PlayerID, markedName(s.DisplayName, string(s.Status)), s.Played, s.Wins, s.Draws, s.Losses, s.TechnicalLosses, s.Points)
		}
	})
}

// Played describes an event of a player in a line.
func Played(e player.Event) (text string) {
	switch e.Kind {
	case player.Waiting:
		text = "cannot reach the manager yet; retrying: " + e.Error
	case player.Registered:
		text = "registered as " + e.Player
		if e.League != "" {
			text += " in the league " + strconv.Quote(e.League)
		}
		text += fmt.Sprintf(", speaking %s; waiting for matches at %s", wrapping(e.Dialect), e.Endpoint)
	case player.Announced:
		text = fmt.Sprintf("%-7s announced%s in round %d", e.Match, against(e.Opponent), e.Round)
		if e.Match == "" {
			text = fmt.Sprintf("no match in round %d", e.Round)
		}
	case player.Invited:
		text = fmt.Sprintf("%-7s %s invites%s%s; joined", e.Match, cmp.Or(e.Referee, "a referee"), against(e.Opponent), inDialect(e.Dialect))
	case player.Chose:
		text = fmt.Sprintf("%-7s asked for a choice%s; answered %s%s", e.Match, against(e.Opponent), e.Choice, between(" by version ", shortVersion(e.Version), ""))
	case player.Failed:
		text = fmt.Sprintf("%-7s the strategy failed (%s): %s", e.Match, e.Fault, cmp.Or(e.Error, earlierFailure))
	case player.Ended:
		text = fmt.Sprintf("%-7s %s%s", e.Match, cmp.Or(strings.ReplaceAll(e.Result, "_", " "), "ended, the message does not say how,"), against(e.Opponent))
		if e.Other != "" {
			text += ", who chose " + e.Other
		}
		if e.Result != "" || e.Points != 0 {
			text += ": " + points(e.Points)
		}
		if e.Number != nil {
			text += fmt.Sprintf("; the number was %d", *e.Number) + map[string]string{player.DrawVerified: ", verified", player.DrawBroken: ", NOT verified"}[e.Draw]
		}
	case player.Trouble:
		text = troubleText(e) + "; " + e.Advice
	case player.Reloaded, player.Kept:
		text = Version(e)
	case player.Completed, player.Deserted, player.Left:
		text = endText(e)
	}
	return text
}

// endText says how a league ended for a player: its record, its place and the last
// table it received.
func endText(e player.Event) string {
	why := map[player.EventKind]string{
		player.Completed: "the league is complete",
		player.Deserted:  "no messages for a while, so the league is over",
		player.Left:      "left the league before its end",
	}[e.Kind]
	e, unseen := complete(e)
	s := e.Standing
	text := why + ": " + words.Plain.Record(int64(s.Played), int64(s.Wins), int64(s.Draws), int64(s.Losses), int64(s.Points))
	if unsaid := s.Played - s.Wins - s.Draws - s.Losses; unsaid > 0 {
		text += fmt.Sprintf(" (nobody said how %s ended)", words.Plain.Plural(int64(unsaid), "match"))
	}
	if unseen > 0 {
		text += fmt.Sprintf(" (of %s of them this process has seen no result)", words.Plain.Count(int64(unseen)))
	}
	if e.Place > 0 {
		text += fmt.Sprintf(", place %d of %d", e.Place, len(e.Table))
	}
	return text + drawsText(e.Draws) + Versions(e.Versions) + tableText(e.Table, e.Player)
}

// complete gives the end of a league the record of the last table, which also knows the
// matches that the process has not seen, such as those before a crash; unseen counts
// them. Without a line of its own in the table that counts matches, nothing changes.
func complete(e player.Event) (_ player.Event, unseen int) {
	for _, row := range e.Table {
		played, known := row.Played.Get()
		if s := &e.Standing; row.PlayerID == e.Player && known && played > s.Played {
			if wins, given := row.Wins.Get(); given {
				unseen = played - s.Played
				s.Wins, s.Draws, s.Losses = wins, row.Draws.Value(), row.Losses.Value()
			}
			s.Played, s.Points = played, row.Points
		}
	}
	return e, unseen
}

func points(n int) string { return words.Plain.Plural(int64(n), "point") }

// few is the number of answers below which a forecast says little: if all came in time,
// a person reads none.
const few = 30

// Forecast says what late answers would cost; nothing where little is known.
func Forecast(f power.Forecast) string {
	if f.Late == 0 && f.Answers < few {
		return ""
	}
	return "what late answers would cost, by the agent's own time for a choice:\n" + f.String()
}

// wrapping is a dialect without the kind of its request ids, which says nothing
// to people.
func wrapping(name string) string { return strings.Replace(name, "+"+dialect.TraitNumericIDs, "", 1) }

// inDialect names the dialect of an agent, unless it is the standard one.
func inDialect(name string) string {
	if name = wrapping(name); name == "" || name == dialect.Contracts.Name {
		return ""
	}
	return ", in the dialect " + name
}

func against(opponent string) string { return between(" against ", opponent, "") }

// tableText is the last table of the manager, with a mark at the player's own line.
func tableText(table []protocol.Standing, own string) string {
	var b strings.Builder
	for _, s := range table {
		mark := " "
		if s.PlayerID == own {
			mark = ">"
		}
		fmt.Fprintf(&b, "\n%s %3d  %-8s %-24s %s", mark, s.Rank, s.PlayerID, markedName(s.DisplayName, s.Status), points(s.Points))
	}
	return b.String()
}

// Refereed describes an event of a referee in a line; empty for what is for pages, or summed
// up at the end. reason says why a player lost a match by technical loss.
func Refereed(e referee.Event, reason string) (text string) {
	switch e.Kind {
	case referee.Waiting:
		text = "cannot reach the manager yet; retrying: " + e.Error
	case referee.Registered:
		text = fmt.Sprintf("registered as %s, speaking %s; waiting for matches", e.Referee, wrapping(e.Dialect))
	case referee.Checked:
		if !e.Verified {
			text = fmt.Sprintf("%-7s %s could not verify the number", e.Match, e.Player)
		}
	case referee.Retried:
		text = fmt.Sprintf("%-7s retrying %s: %s", e.Match, e.Player, e.Error)
	case referee.Finished:
		text = fmt.Sprintf("%-7s %s against %s  %d:%d", e.Match, e.Players[0], e.Players[1], e.Points[0], e.Points[1])
	case referee.Absent:
		text = fmt.Sprintf("%-7s %s has not answered in %s in a row; it is asked once in each until it answers", e.Match, e.Player, matches(e.Matches))
	case referee.Alarm:
		text = fmt.Sprintf("%-7s %s", e.Match, e.Error)
	case referee.Forfeited:
		text = fmt.Sprintf("%-7s technical loss of %s: %s", e.Match, e.Player, reason)
	case referee.Completed:
		text = "the league is complete: " + matches(e.Matches) + " played"
	case referee.Deserted:
		text = "no messages for a while, so the league is over: " + matches(e.Matches) + " played"
	}
	return text
}

// pacedText says what the organiser has done with the pace.
func pacedText(e manager.Event) string {
	if e.Paused {
		return "paused by the organiser: no round begins"
	}
	return fmt.Sprintf("not paused by the organiser; pause after each round: %v", milliseconds(e.PaceMS))
}

// resumedText says where a league goes on after a restart, and what holds it up.
func resumedText(e manager.Event) string {
	text := fmt.Sprintf("resumed round %d of %d", e.Round, e.Total)
	if e.PaceMS > 0 {
		text += fmt.Sprintf("; pause after each round: %v", milliseconds(e.PaceMS))
	}
	return text + heldText(e)
}

// heldText says of a league that was started or resumed that it is paused.
func heldText(e manager.Event) string {
	if !e.Paused {
		return ""
	}
	return "; it is paused, and 'strategylab league resume' lets it go on"
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// organizedText says what the organiser has done with a player.
func organizedText(e manager.Event) string {
	done := map[league.Life]string{
		league.Withdrawn: "withdrawn", league.Suspended: "suspended", league.Active: "readmitted",
	}[e.State]
	return fmt.Sprintf("%-5s %s %s by the organiser", e.Agent, e.Name, done)
}

// markedName is a player's name, with a mark if the organiser has taken it out.
func markedName(name, status string) string {
	return name + between(" (", strings.ToLower(status), ")")
}

// Draws says how many draws the players verified, and what is known of the others;
// empty if no player said anything.
func Draws(d league.Draws) string {
	if d.Verified+d.Unverified == 0 {
		return ""
	}
	text := audit.Verified(d.Verified, d.Drawn) + " by the players"
	if d.Unverified > 0 {
		text += fmt.Sprintf("; %d that a player could NOT verify", d.Unverified)
	}
	if n := d.Unchecked(); n > 0 {
		text += fmt.Sprintf("; %d of which no player said whether it could", n)
	}
	return text
}

// drawsText counts the draws that a player verified in a league, empty without
// verifiable draws.
func drawsText(d *player.Draws) string {
	if d == nil {
		return ""
	}
	text := "; " + audit.Verified(d.Verified, d.Drawn)
	if d.Undrawn > 0 {
		text += fmt.Sprintf(", %s without a number after its choice", words.Plain.Plural(int64(d.Undrawn), "match"))
	}
	return text
}

// shortVersion abbreviates a fingerprint.
func shortVersion(fingerprint string) string { return fingerprint[:min(len(fingerprint), 8)] }

// Version says what came of an edit, or of a restart after one.
func Version(e player.Event) string {
	now := "version " + shortVersion(e.Version)
	switch {
	case e.Kind == player.Kept:
		return fmt.Sprintf("the edit does not play, %s plays on: %s", now, e.Error)
	case e.Error != "":
		return fmt.Sprintf("%s plays, since version %s, which chose last, cannot: %s", now, shortVersion(e.Former), e.Error)
	case e.Replayed == 0:
		return fmt.Sprintf("%s plays from now on", now)
	}
	return fmt.Sprintf("%s plays from now on; replayed for it: %s", now, matches(e.Replayed))
}

// Versions lists what the versions of a strategy have played.
func Versions(all []player.VersionRecord) string {
	var b strings.Builder
	for _, v := range all {
		fmt.Fprintf(&b, "\nversion %s chose in %s, first in %s: %s", shortVersion(v.Version), words.Plain.Plural(int64(v.Chosen), "match"), v.First, points(v.Points))
	}
	return b.String()
}

// Fairness says whether the draws of a league follow the rules. Numbers that players
// verified need no test, and the manager does not know which these are.
func Fairness(draw game.Draw, played []league.Match, proven league.Draws) string {
	var draws []judge.Draw
	for _, m := range played {
		if m.Drawn && proven.Verified == 0 {
			draws = append(draws, judge.Draw{Number: m.Number, Players: m.Players, Choices: [2]string{m.Choices[0].String(), m.Choices[1].String()}})
		}
	}
	if len(draws) == 0 {
		return ""
	}
	_, verdict := audit.FairDraws(draw, draws)
	return fmt.Sprintf("The draws were %s; %s tested.", verdict, words.Plain.Plural(int64(len(draws)), "draw"))
}

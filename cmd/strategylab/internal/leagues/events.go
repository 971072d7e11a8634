package leagues

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// eventWriter prints events, one per line. It is safe for concurrent use.
type eventWriter struct {
	mu   sync.Mutex
	w    io.Writer
	json bool
}

// write prints an event as JSON or as text; an empty text prints nothing.
func (e *eventWriter) write(v any, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.json {
		// a write error shows up at the end
		_ = json.NewEncoder(e.w).Encode(v)
		return
	}
	if text != "" {
		fmt.Fprintln(e.w, text)
	}
}

// say prints a line for people; JSON output has none.
func (e *eventWriter) say(format string, args ...any) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.w, format+"\n", args...)
}

// managed prints an event of the manager.
func (l *live) managed(e manager.Event) {
	text := ""
	l.trouble.managed(e)
	if l.wall != nil {
		l.wall.Managed(e)
	}
	switch e.Kind {
	case manager.MatchesProgressed:
		return // for pages: too much to read
	case manager.MessageRefused:
		text = refusedText(e)
	case manager.AgentRegistered:
		text = fmt.Sprintf("%-5s %s registered", e.Agent, e.Name) + again(e.Again) + inDialect(e.Dialect)
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
		if !l.trouble.knows(e.Name) {
			text = fmt.Sprintf("%-5s %s: the strategy failed in round %d: %s", e.Agent, e.Name, e.Round, words.Printable(e.Error))
		}
	case manager.MatchReported:
		text = matchLine(*e.Match)
	case manager.RoundCompleted:
		text = fmt.Sprintf("round %d of %d is complete", e.Round, e.Total)
	}
	l.out.write(e, text)
	if e.Kind == manager.LeagueCompleted {
		l.out.table(e.Standings)
	}
}

func again(again bool) string {
	if again {
		return " again"
	}
	return ""
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

// table prints the final standings.
func (e *eventWriter) table(standings []league.Standing) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintln(e.w)
	tw := tabwriter.NewWriter(e.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "place\tplayer\tname\tplayed\twon\ttied\tlost\ttechnical\tpoints\t")
	for _, s := range standings {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			s.Rank, s.PlayerID, markedName(s.DisplayName, string(s.Status)), s.Played, s.Wins, s.Draws, s.Losses, s.TechnicalLosses, s.Points)
	}
	_ = tw.Flush() // a write error shows up at the end
}

// played prints an event of a player.
func (l *live) played(e player.Event) {
	text := ""
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
		text = fmt.Sprintf("%-7s asked for a choice%s; answered %s%s", e.Match, against(e.Opponent), e.Choice, byVersion(e.Version))
	case player.Failed:
		text = fmt.Sprintf("%-7s the strategy failed (%s): %s", e.Match, e.Fault, cmp.Or(e.Error, earlierFailure))
	case player.Ended:
		text = fmt.Sprintf("%-7s %s%s", e.Match, cmp.Or(strings.ReplaceAll(e.Result, "_", " "), "ended, the message does not say how,"), against(e.Opponent))
		if e.Other != "" {
			text += ", who chose " + e.Other
		}
		text += ": " + points(e.Points)
		if e.Number != 0 {
			text += fmt.Sprintf("; the number was %d", e.Number) + drawText(e.Draw)
		}
	case player.Trouble:
		text = troubleText(e) + "; " + e.Advice
	case player.Reloaded, player.Kept:
		text = versionText(e)
	case player.Completed, player.Deserted, player.Left:
		text = endText(e)
	}
	l.out.write(e, text)
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
	if unseen > 0 {
		text += fmt.Sprintf(" (%s of them before this process started, or without it)", words.Plain.Count(int64(unseen)))
	}
	if e.Place > 0 {
		text += fmt.Sprintf(", place %d of %d", e.Place, len(e.Table))
	}
	return text + drawsText(e.Draws) + versionsText(e.Versions) + tableText(e.Table, e.Player)
}

// complete gives the end of a league the record of the last table, which also knows the
// matches that the process has not seen, such as those before a crash; unseen counts
// them. Without a line of its own in the table that counts matches, nothing changes.
func complete(e player.Event) (_ player.Event, unseen int) {
	for _, row := range e.Table {
		played, known := row.Played.Get()
		if s := &e.Standing; row.PlayerID == e.Player && known && played > s.Played {
			unseen = played - s.Played
			s.Played, s.Wins, s.Draws, s.Losses, s.Points = played, row.Wins.Value(), row.Draws.Value(), row.Losses.Value(), row.Points
		}
	}
	return e, unseen
}

func points(n int) string { return words.Plain.Plural(int64(n), "point") }

// few is the number of answers below which a forecast says little: if all came in time,
// a person reads none.
const few = 30

// forecastText says what late answers would cost; nothing where little is known.
func forecastText(f power.Forecast) string {
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

func against(opponent string) string {
	if opponent == "" {
		return ""
	}
	return " against " + opponent
}

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

// refereed prints an event of a referee that runs alone.
func (l *live) refereed(e referee.Event) { l.reported(e, reasonText(e.Fault, e.Error)) }

// reported prints an event of a referee, but for what is for pages, or summed up at the
// end. reason says why a player lost a match by technical loss.
func (l *live) reported(e referee.Event, reason string) {
	text := ""
	switch e.Kind {
	case referee.Waiting:
		text = "cannot reach the manager yet; retrying: " + e.Error
	case referee.Registered:
		text = fmt.Sprintf("registered as %s, speaking %s; waiting for matches", e.Referee, wrapping(e.Dialect))
	case referee.Checked:
		text = unverifiedText(e)
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
	if text != "" {
		l.out.write(e, text)
	}
}

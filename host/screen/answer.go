package screen

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/protocol"
)

// Answer is the answer to a query as a person reads it. The error says that
// the data is not that of league.v2.
func Answer(r *protocol.LeagueQueryResponse, kind, player string) (string, error) {
	var b strings.Builder
	var err error
	switch kind {
	case protocol.QueryStandings:
		err = readInto(&b, r, func(d protocol.StandingsData) bool { return d.Standings != nil }, standingsText)
	case protocol.QuerySchedule:
		err = readInto(&b, r, func(d protocol.ScheduleData) bool { return d.Rounds != nil }, scheduleText)
	case protocol.QueryPlayers:
		err = readInto(&b, r, func(d protocol.PlayersData) bool { return d.Players != nil }, playersText)
	case protocol.QueryStatus:
		err = readInto(&b, r, func(d protocol.StatusData) bool { return d.Status+d.State != "" }, statusText)
	case protocol.QueryNextMatch:
		err = readInto(&b, r, func(protocol.NextMatchData) bool { return true }, func(w io.Writer, d protocol.NextMatchData) { nextMatchText(w, d, player) })
	}
	return b.String(), err
}

// readInto reads the data of an answer and has it written. Complete reports whether
// the data has what the text is about.
func readInto[T protocol.QueryData](w io.Writer, r *protocol.LeagueQueryResponse, complete func(T) bool, write func(io.Writer, T)) error {
	data, err := protocol.ReadData[T](r)
	switch {
	case err != nil:
		return err
	case !complete(data):
		return errors.New("the data lacks what the text is about")
	}
	write(w, data)
	return nil
}

// columns writes a table.
func columns(w io.Writer, align uint, head string, rows func(row func(cells ...any))) {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', align)
	fmt.Fprintln(tw, strings.ReplaceAll(head, " ", "\t")+"\t")
	rows(func(cells ...any) {
		for _, cell := range cells {
			fmt.Fprintf(tw, "%v\t", cell)
		}
		fmt.Fprintln(tw)
	})
	_ = tw.Flush() // a builder takes everything
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

func standingsText(w io.Writer, d protocol.StandingsData) {
	if d.CurrentRound.Value() > 0 {
		fmt.Fprintf(w, "standings in round %d\n\n", d.CurrentRound.Value())
	}
	columns(w, tabwriter.AlignRight, "place player name played won tied lost points", func(row func(...any)) {
		for _, s := range d.Standings {
			row(s.Rank, s.PlayerID, markedName(s.DisplayName, s.Status), s.Played.Value(), s.Wins.Value(), s.Draws.Value(), s.Losses.Value(), s.Points)
		}
	})
}

func scheduleText(w io.Writer, d protocol.ScheduleData) {
	if len(d.Rounds) == 0 {
		fmt.Fprintln(w, "the league has not started; there is no schedule yet")
		return
	}
	columns(w, 0, "round match players referee status winner", func(row func(...any)) {
		for _, r := range d.Rounds {
			for _, m := range r.Matches {
				winner := m.Winner.Value()
				if winner == "" && m.Status == protocol.MatchFinished {
					winner = "none"
				}
				row(r.RoundID, m.MatchID, m.PlayerAID+" - "+m.PlayerBID, m.RefereeID, strings.ToLower(m.Status), winner)
			}
			for _, id := range r.Byes {
				row(r.RoundID, "", id+" has a bye")
			}
		}
	})
	fmt.Fprintf(w, "\n%s in all\n", words.Plain.Plural(int64(d.TotalRounds.Value()), "round"))
}

func playersText(w io.Writer, d protocol.PlayersData) {
	if len(d.Players) == 0 {
		fmt.Fprintln(w, "nobody has registered yet")
		return
	}
	columns(w, 0, "player name state endpoint", func(row func(...any)) {
		for _, p := range d.Players {
			row(p.PlayerID, p.DisplayName, strings.ToLower(p.State), p.ContactEndpoint)
		}
	})
}

func statusText(w io.Writer, d protocol.StatusData) {
	fmt.Fprintf(w, "the league %q is %s", d.LeagueID, cmp.Or(d.Status, strings.ToLower(d.State)))
	if total := d.TotalRounds.Value(); total > 0 {
		fmt.Fprintf(w, ": round %d of %d, %d of %s played", d.CurrentRound.Value(), total, d.MatchesCompleted.Value(), matches(d.TotalMatches.Value()))
	}
	if d.Paused.Value() {
		fmt.Fprint(w, "; paused by the organiser")
	}
	fmt.Fprintln(w)
}

func nextMatchText(w io.Writer, d protocol.NextMatchData, player string) {
	m := d.NextMatch
	if m == nil {
		fmt.Fprintf(w, "%s has no match to come\n", player)
		return
	}
	fmt.Fprintf(w, "%s plays %s%s in round %s", player, m.MatchID, against(m.OpponentID), m.RoundID)
	if m.RefereeID != "" {
		fmt.Fprintf(w, "; the referee is %s", m.RefereeID)
	}
	fmt.Fprintln(w)
}

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// WritePlayersCSV writes one line per player, best first, under a header line. Every
// estimate takes three columns, NAME, NAME_low and NAME_high; a number that does not
// exist is an empty cell. Faults are written as KIND:COUNT, separated by spaces. Tier
// and place range are those of the ranking.
func WritePlayersCSV(w io.Writer, r *Document) error {
	header := []string{"place", "name", "kind", "matches", "wins", "draws", "losses", "technical_losses", "faults"}
	for _, name := range []string{"points", "adjusted", "win_rate", "adjusted_win_rate", "differ", "champion_share", "rank",
		"draw_rate", "technical_loss_rate", "first"} {
		header = append(header, name, name+"_low", name+"_high")
	}
	header = append(header, "tier", "place_best", "place_worst")
	rows := [][]string{header}
	for _, p := range r.Players {
		row := append([]string{strconv.Itoa(p.Place), p.Name, p.Kind}, counts(p.Matches, p.Wins, p.Draws, p.Losses, p.TechnicalLosses)...)
		faults := make([]string, len(p.Faults))
		for f := range faults {
			faults[f] = fmt.Sprintf("%s:%d", p.Faults[f].Kind, p.Faults[f].Count)
		}
		row = append(row, strings.Join(faults, " "))
		for _, e := range []analysis.Estimate{p.Points, p.Adjusted, p.WinRate, p.AdjustedWinRate, p.Differ, p.ChampionShare, p.Rank,
			p.DrawRate, p.TechnicalRate, p.First} {
			row = append(row, cells(e)...)
		}
		rows = append(rows, append(row, strconv.Itoa(p.Tier), strconv.Itoa(p.RankInterval[0]), strconv.Itoa(p.RankInterval[1])))
	}
	return writeCSV(w, "players", rows)
}

// WritePairsCSV writes one line per pair of players, in field order, under a header
// line; see [WritePlayersCSV]. Clean matches are those decided by choices. The
// difference is in adjusted points per match over all opponents, and p is adjusted for
// all pairs; where it is as small as p_resolution, it is at most that.
func WritePairsCSV(w io.Writer, r *Document) error {
	rows := [][]string{{"a", "b", "matches", "clean", "wins_a", "wins_b", "draws", "differ", "differ_low", "differ_high",
		"points_a", "points_b", "adjusted_a", "adjusted_b", "difference", "difference_low", "difference_high", "p", "p_holm", "p_resolution"}}
	for k, p := range r.Pairs {
		x, resolution := &r.Estimates.Pairs[k], "" // without simulation
		if p.Resolution > 0 {
			resolution = cell(p.Resolution)
		}
		row := append([]string{p.A, p.B}, counts(p.Matches, x.Clean, p.WinsA, p.WinsB, p.Draws)...)
		row = append(row, cells(p.Differ)...)
		row = append(row, cell(x.PointsA), cell(x.PointsB), cell(x.AdjustedA), cell(x.AdjustedB))
		row = append(row, cells(p.Difference)...)
		rows = append(rows, append(row, cell(p.P), cell(p.Holm), resolution))
	}
	return writeCSV(w, "pairs", rows)
}

func writeCSV(w io.Writer, what string, rows [][]string) error {
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV of %s: %w", what, err)
	}
	return nil
}

func counts(values ...int64) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = strconv.FormatInt(v, 10)
	}
	return list
}

func cells(e analysis.Estimate) []string {
	if !e.Defined() {
		return []string{"", "", ""}
	}
	return []string{cell(e.Estimate), cell(e.Low), cell(e.High)}
}

// cell writes the shortest number that reads back as x.
func cell(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

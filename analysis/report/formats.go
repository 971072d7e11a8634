package report

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
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
	rows := [][]string{append(header, "tier", "place_best", "place_worst")}
	for _, p := range r.Players {
		faults := make([]string, len(p.Faults))
		for f := range faults {
			faults[f] = fmt.Sprintf("%s:%d", p.Faults[f].Kind, p.Faults[f].Count)
		}
		rows = append(rows, record(p.Place, p.Name, p.Kind, p.Matches, p.Wins, p.Draws, p.Losses, p.TechnicalLosses, strings.Join(faults, " "),
			p.Points, p.Adjusted, p.WinRate, p.AdjustedWinRate, p.Differ, p.ChampionShare, p.Rank, p.DrawRate, p.TechnicalRate, p.First,
			p.Tier, p.RankInterval[0], p.RankInterval[1]))
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
		x, resolution := &r.Estimates.Pairs[k], p.Resolution
		if resolution == 0 { // without simulation
			resolution = math.NaN()
		}
		rows = append(rows, record(p.A, p.B, p.Matches, x.Clean, p.WinsA, p.WinsB, p.Draws, p.Differ,
			x.PointsA, x.PointsB, x.AdjustedA, x.AdjustedB, p.Difference, p.P, p.Holm, resolution))
	}
	return writeCSV(w, "pairs", rows)
}

func writeCSV(w io.Writer, what string, rows [][]string) error {
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV of %s: %w", what, err)
	}
	return nil
}

// record has the cells of a row: three for an estimate, and an empty one for a number that
// does not exist.
func record(values ...any) (cells []string) {
	for _, v := range values {
		switch v := v.(type) {
		case analysis.Estimate:
			if !v.Defined() {
				v.Low, v.High = math.NaN(), math.NaN()
			}
			cells = append(cells, cell(v.Estimate), cell(v.Low), cell(v.High))
		case float64:
			cells = append(cells, cell(v))
		default:
			cells = append(cells, fmt.Sprint(v))
		}
	}
	return cells
}

// cell writes the shortest number that reads back as x.
func cell(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Markup is a language of papers.
type Markup string

// The languages. LaTeX is a fragment for \input that needs no package.
const (
	Markdown Markup = "markdown"
	LaTeX    Markup = "latex"
)

// File is the name of a paper's file in the folder of a run.
func (m Markup) File() string {
	return map[Markup]string{Markdown: "report.md", LaTeX: "report.tex"}[m]
}

// paper.txt has a template for each language.
//
//go:embed paper.txt
var papers string

// WritePaper writes what a paper needs of a run: the answer, the ranking, the pairs, and how
// the numbers came about.
func WritePaper(w io.Writer, r *Document, m Markup) error {
	e := &r.Estimates
	type pair struct {
		Pair
		Sums     analysis.Pair
		Compared bool // else there is nothing to rank
	}
	var pairs []pair
	for k, p := range r.Pairs {
		pairs = append(pairs, pair{p, e.Pairs[k], !e.NothingToRank() && e.Leagues > 1})
	}
	ranking := slices.DeleteFunc(r.columns(), func(c column) bool { return c.Head == "" }) // marks, which p of the pairs is for
	methods := []string{words.Plain.Say("methods", r)[0]}
	if r.Facts.Digest != "" {
		methods = append(methods, "The digest of the results is "+words.Printable(r.Facts.Digest)+".")
	}
	methods = slices.Concat(methods, r.StoppingLines(), r.ReproducibleLines(), r.WarningLines())
	t := template.Must(template.New("").Funcs(template.FuncMap{"text": m.text}).Parse(papers))
	if err := t.ExecuteTemplate(w, string(m), struct {
		Result, Methods string
		Ranking, Pairs  []column
	}{strings.Join(slices.Concat(r.ConfirmationLines(), r.Answer), " "), strings.Join(methods, " "), ranking, columnsOf("pairs", pairs)}); err != nil {
		return fmt.Errorf("write paper: %w", err)
	}
	return nil
}

// text makes a text mean itself.
func (m Markup) text(s string) string {
	s = strings.TrimSpace(s)
	if m == LaTeX {
		return strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
			"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`, "±", `$\pm$`, "≤", `$\le$`, "…", `\dots{}`).Replace(s)
	}
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "`", "\\`").Replace(s)
}

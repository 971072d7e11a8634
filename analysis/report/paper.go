package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// Markup is a language of papers.
type Markup string

// The languages. LaTeX is a fragment for \input that needs no package.
const (
	Markdown Markup = "markdown"
	LaTeX    Markup = "latex"
)

// File is the name of a paper's file in the folder of a run.
func (m Markup) File() string {
	if m == LaTeX {
		return "report.tex"
	}
	return "report.md"
}

// WritePaper writes what a paper needs of a run: the answer, the ranking, the pairs, and how
// the numbers came about.
func WritePaper(w io.Writer, r *Document, m Markup) error {
	e := &r.Estimates
	ranking := slices.DeleteFunc(r.columns(), func(c column) bool { return c.head == "" }) // marks, which p of the pairs is for
	of := func(head string, cell func(p *analysis.Pair) string) column { return columnOf(head, 0, e.Pairs, cell) }
	pairs := []column{
		of("<strategy", func(p *analysis.Pair) string { return words.Printable(e.Players[p.A].Name) }),
		of("<opponent", func(p *analysis.Pair) string { return words.Printable(e.Players[p.B].Name) }),
		of("payoff", func(p *analysis.Pair) string { return words.Plain.Number(p.AdjustedA, 4) }),
		of("opponent's", func(p *analysis.Pair) string { return words.Plain.Number(p.AdjustedB, 4) }),
		of("differ%", func(p *analysis.Pair) string { return words.PlusMinus(p.Differ, 100, 1) }),
	}
	if !e.NothingToRank() && e.Leagues > 1 {
		pairs = append(pairs,
			columnOf("difference", 0, r.Pairs, func(p *Pair) string { return words.PlusMinus(p.Difference, 1, 4) }),
			columnOf("p", 0, r.Pairs, func(p *Pair) string {
				if p.Resolution > 0 && p.P <= p.Resolution {
					return "≤" + words.PValue(p.P)
				}
				return words.PValue(p.P)
			}))
	}
	methods := []string{words.Plain.Methods(e, r.Run.Plan.Legs, r.Run.Plan.Draw, r.seeds())}
	if r.Facts.Digest != "" {
		methods = append(methods, "The digest of the results is "+words.Printable(r.Facts.Digest)+".")
	}
	methods = slices.Concat(methods, r.StoppingLines(), r.ReproducibleLines(), r.WarningLines())
	text := m.section("Result") + m.text(strings.Join(slices.Concat(r.ConfirmationLines(), r.Answer), " ")) + "\n\n" +
		m.section("Ranking") + m.table(ranking) +
		m.section("Pairs") + m.table(pairs) + m.text("Payoffs are adjusted points per match against each other; the difference is in adjusted points per match against the whole field.") + "\n\n" +
		m.section("Methods") + m.text(strings.Join(methods, " ")) + "\n"
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write paper: %w", err)
	}
	return nil
}

func (m Markup) section(title string) string {
	if m == LaTeX {
		return `\subsection*{` + title + "}\n"
	}
	return "## " + title + "\n\n"
}

// table writes columns side by side: numbers to the right, texts to the left.
func (m Markup) table(columns []column) string {
	begin, between, end, rule, close := "| ", " | ", " |\n", "|", "\n"
	if m == LaTeX {
		begin, between, end, rule, close = "", " & ", ` \\`+"\n", "", "\\end{tabular}\n\n"
	}
	row := func(cell func(c column) string) string {
		var cells []string
		for _, c := range columns {
			cells = append(cells, m.text(strings.TrimSpace(cell(c))))
		}
		return begin + strings.Join(cells, between) + end
	}
	for _, c := range columns {
		switch {
		case m == LaTeX && c.left:
			rule += "l"
		case m == LaTeX:
			rule += "r"
		case c.left:
			rule += ":---|"
		default:
			rule += "---:|"
		}
	}
	head := row(func(c column) string { return c.head })
	if m == LaTeX {
		head = `\begin{tabular}{` + rule + "}\n" + head + "\\hline\n"
	} else {
		head += rule + "\n"
	}
	for k := range columns[0].cells {
		head += row(func(c column) string { return c.cells[k] })
	}
	return head + close
}

// text makes a text mean itself.
func (m Markup) text(s string) string {
	if m == LaTeX {
		return strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
			"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`, "±", `$\pm$`, "≤", `$\le$`, "…", `\dots{}`).Replace(s)
	}
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "`", "\\`").Replace(s)
}

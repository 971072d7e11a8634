// Package page writes the report of an experiment as one HTML file: the answer first,
// then the evidence. The file needs no network and no script, except for a button; it has a light and a
// dark theme, fits a phone, and prints.
//
// It computes no estimates of its own. Names and fault messages of strategies are
// foreign text: they are escaped, and the page forbids other scripts besides.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/plots"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// File is the name of the report in the folder of its run.
const File = "report.html"

// Input is all that a page is made from.
type Input struct {
	*report.Document
	// Explanations may be the zero value, and Mirrors empty: the page leaves out what
	// needs them, and says so.
	Explanations explain.Explanations
	Mirrors      []population.Mirror
	// Leagues are those of the run, for the ranges of the population; nil takes payoffs as
	// independent.
	Leagues *population.Leagues
	// Records are the first league and those with the first faults, of which the page
	// lists matches; none for no list.
	Records []*results.League
	// Replays says that the page is served beside pages of leagues and matches, to which
	// it links: leagues/0/ and leagues/0/R1M1.
	Replays bool
	// Version is that of the program, for the footer; empty for none.
	Version string
	// Begun is when the run was begun, of which the footer shows the day in UTC; zero for
	// unknown. No record has a time.
	Begun time.Time
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed copy.js
var copyJS template.JS

// Policy is the Content-Security-Policy of a page: it loads nothing, and runs only the
// code of its copy button.
func Policy() string {
	sum := sha256.Sum256([]byte(copyJS))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline'; img-src data:"
}

//go:embed theme.css
var themeCSS string

// Theme returns a style sheet for pages that are to look like this one: its colours as CSS
// variables, in light and dark, and how it shows that a part scrolls.
func Theme() string { return themeCSS }

// functions are those that the templates call beside [words.Style.Functions].
var functions = template.FuncMap{
	"headline":   words.Headline,
	"styles":     styles,
	"policy":     Policy,
	"script":     func() template.JS { return copyJS },
	"mostCurves": func() int { return mostCurves },
	"share":      share,
	"part":       func(n, whole int64) string { return words.Typeset.Count(n) + " (" + share(n, whole) + ")" },
	"lost":       func(p analysis.Pair) int64 { return p.Matches - p.WinsA - p.WinsB - p.Draws }, // by both
	"mebibytes":  func(n uint64) string { return words.Typeset.Number(float64(n)/(1<<20), 1) },
	"cut":        func(fact string) []string { return strings.SplitN(fact, ": ", 2) },
}

func share(part, whole int64) string { return words.Typeset.Percent(float64(part) / float64(whole)) }

// render executes a template of a page or, if the name is empty, all of it. Texts of others
// are escaped; no character of theirs turns the text around it.
func render(page, name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	t := template.Must(template.New("").Funcs(words.Typeset.Functions()).Funcs(functions).Parse(page))
	err := t.ExecuteTemplate(&b, name, data)
	return template.HTML(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\u00a0' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, b.String())), err
}

// write renders a page to a file, say.
func write(w io.Writer, page, name string, data any) error {
	html, err := render(page, name, data)
	if err == nil {
		_, err = io.WriteString(w, string(html))
	}
	return err
}

// Write writes the page.
func Write(w io.Writer, in Input) error {
	if err := write(w, pageHTML, "", newSource(in).complete()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Live is what a run has shown while it plays: the answer, and sections of its report, from the same
// templates. A section that there is nothing for is empty.
type Live struct {
	Answer                        string
	Ranking, Tiers, Pairs, Faults template.HTML
}

// NewLive makes the sections.
func NewLive(d *report.Document) (Live, error) {
	s := newSource(Input{Document: d})
	l := Live{Answer: strings.Join(s.Sentences(s.Style), " ")}
	for name, to := range map[string]*template.HTML{"ranking": &l.Ranking, "tiers": &l.Tiers, "pairs": &l.Pairs, "faults": &l.Faults} {
		if name == "tiers" && !s.Tiers || name == "pairs" && s.Matrix == nil {
			continue
		}
		var err error
		if *to, err = render(pageHTML, name, s); err != nil {
			return l, fmt.Errorf("section %s: %w", name, err)
		}
	}
	return l, nil
}

// Plot is a plot of the page as a separate file.
type Plot struct {
	Name string // "ranking", without an extension
	SVG  string // an SVG file that stands alone
}

// Plots returns the plots of the page, except those of single strategies.
func Plots(in Input) []Plot {
	c := newSource(in).complete()
	var list []Plot
	for _, f := range []*figure{c.Ranking, c.Matrix, c.Places, c.Learning, c.Trajectory} {
		if f != nil {
			list = append(list, Plot{f.Name, f.plot.File(plots.Wide, f.label)})
		}
	}
	return list
}

// Style returns the style sheet of the report, for pages that show parts of it.
func Style() string { return string(styles()) }

// styles is the style sheet with the colours of the plots.
func styles() template.CSS { return template.CSS(plots.Style() + themeCSS + pageCSS) }

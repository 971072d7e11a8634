// Package audit judges recorded leagues: whether they kept the rules, and whether their draws
// look fair.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/trace"
)

// Document is the outcome of an audit, as it is in JSON.
type Document struct {
	Schema  string         `json:"schema"`
	Leagues []League       `json:"leagues"`
	Errors  []trace.Remark `json:"strategy_errors,omitempty"` // of players that this program ran
	Fair    bool           `json:"consistent_with_a_fair_referee"`
}

// League is what an audit found out about one league of a recording.
type League struct {
	League     string                 `json:"league_id"`
	Matches    int                    `json:"matches"` // with a known result
	Checks     []judge.Outcome        `json:"checks"`
	Draws      []drawTest             `json:"draws"` // of the numbers that are not verified
	Verified   int                    `json:"verified_draws"`
	Drawn      int                    `json:"drawn_numbers"`
	Verifiable []judge.VerifiableDraw `json:"verifiable_draws,omitempty"` // only with --draws
}

// drawTest is a test of the draws.
type drawTest struct {
	fairness.Test
	Detectable *float64 `json:"detectable_percent,omitempty"` // nil if infinite
	Visible    string   `json:"visible"`
}

// Of audits the leagues of a recording. Draw is how they announced to draw, the zero value if
// they did not. list adds the verifiable draws.
func Of(rec *trace.Recording, draw game.Draw, list bool) (*Document, error) {
	leagues := judge.Divide(rec.Exchanges)
	if len(leagues) == 0 {
		return nil, errors.New("the recording has no match and no table")
	}
	doc := &Document{Schema: "strategylab/audit/v2", Errors: rec.Remarks, Fair: true}
	for _, l := range leagues {
		doc.add(l, draw, list)
	}
	return doc, nil
}

func (d *Document) add(l *judge.League, draw game.Draw, list bool) {
	a := League{
		League: l.ID, Matches: l.Decided(), Draws: []drawTest{},
		Checks: l.Apply(judge.Rules(judge.Options{Draw: draw, Fair: FairDraws})),
	}
	for _, c := range a.Checks {
		d.Fair = d.Fair && c.Answer != judge.Broken
	}
	for _, d := range l.Draws() {
		a.Drawn++
		if d.Verified {
			a.Verified++
		}
	}
	if rule, unverified := l.Unverified(draw); len(unverified) > 0 {
		for _, t := range drawTests(rule, unverified).Tests {
			test := drawTest{Test: t, Visible: t.Visible()}
			if !math.IsInf(t.Detectable, 1) {
				test.Detectable = &t.Detectable
			}
			a.Draws = append(a.Draws, test)
		}
	}
	if list {
		a.Verifiable = l.VerifiableDraws()
	}
	d.Leagues = append(d.Leagues, a)
}

// FairDraws judges numbers that nobody verified.
func FairDraws(draw game.Draw, draws []judge.Draw) (judge.Answer, string) {
	l := drawTests(draw, draws)
	switch {
	case !l.Consistent():
		return judge.Broken, l.String()
	case l.Unusual():
		return judge.Unusual, l.String()
	}
	return judge.Holds, l.String()
}

// drawTests tests the draws of a league.
func drawTests(draw game.Draw, draws []judge.Draw) *fairness.League {
	var numbers []int
	var contests []fairness.Contest
	for _, d := range draws {
		numbers = append(numbers, d.Number)
		for i, player := range d.Players {
			mine, errMine := game.ParseParity(d.Choices[i])
			others, errOthers := game.ParseParity(d.Choices[1-i])
			if errMine == nil && errOthers == nil && mine != others {
				contests = append(contests, fairness.Contest{Player: player, Choice: mine, Won: game.ParityOf(d.Number) == mine})
			}
		}
	}
	l := fairness.Of(draw, numbers, contests)
	return &l
}

// page is how a document is written for people. Ids and errors are foreign.
var page = template.Must(template.New("audit").Funcs(template.FuncMap{
	"join": strings.Join, "plural": plural, "safe": words.Printable, "verified": Verified,
	"verdict": func(a judge.Answer) string {
		spelled := map[judge.Answer]string{judge.Broken: "BROKEN", judge.Another: "another", judge.Unknown: "not seen"}
		return cmp.Or(spelled[a], string(a))
	},
	"listed": func(i int) bool { return i < most }, "more": func(n int) int { return max(0, n-most) },
}).Parse(`
{{- range .Leagues}}league {{printf "%q" .League}}, {{plural .Matches "result"}}

{{range .Checks}}  {{printf "%-8s  %-11s  %5d times  %s" (verdict .Answer) .ID .Examined .Sentence}}
{{range $i, $f := .Findings}}{{if listed $i}}            {{safe $f.Text}}
{{end}}{{end}}
{{- with more (len .Findings)}}            and {{.}} more
{{end}}
{{- with .Advice}}            to fix: {{.}}
{{end}}
{{- if .Unknown}}            {{.Unknown}} more cannot be judged: the recording lacks {{join .Missing "; "}}
{{end}}{{end}}
{{range .Verifiable}}  {{template "draw" .}}
{{end}}
{{- if .Verified}}  {{verified .Verified .Drawn}}
{{end}}
{{- range .Draws}}  {{safe .String}}
{{end}}
{{- if or .Verifiable .Verified .Draws}}
{{end}}{{end}}
{{- if .Errors}}errors of strategies:
{{range $i, $e := .Errors}}{{if listed $i}}  {{printf "%-7s" (safe $e.Match)}} {{safe $e.Agent}}: {{safe $e.Text}}
{{end}}{{end}}
{{- with more (len .Errors)}}  and {{.}} more
{{end}}
{{end}}{{.Verdict}}
{{define "draw"}}{{safe (printf "%-7s round %d  %s %s %s  %s %s %s  commitment %s  key %s  number %d" .Match .Round
	(index .Players 0) (index .Choices 0) (or (index .Nonces 0) "-") (index .Players 1) (index .Choices 1) (or (index .Nonces 1) "-")
	.Commitment (or .Key "-") .Number)}}  {{with .Broken}}BROKEN: {{safe .}}{{else}}verified{{end}}{{end}}`))

// most is how many findings of a check, and how many errors, are written.
const most = 20

// WriteText writes the document for people.
func (d *Document) WriteText(w io.Writer) error { return page.Execute(w, d) }

// Verdict says what the document shows in a line.
func (d *Document) Verdict() string {
	switch {
	case !d.Fair:
		return "NOT consistent with a fair referee: see what is BROKEN above"
	case !slices.ContainsFunc(d.Leagues, func(l League) bool { return l.Matches > 0 }):
		return "no result was recorded, so nothing tells whether the referee is fair"
	}
	return "consistent with a fair referee"
}

// String says what a test shows, and what it could have shown.
func (t drawTest) String() string {
	if t.Method == fairness.TooFew {
		return fmt.Sprintf("%s  too few to tell: %s", t.Question, plural(t.N, "draw"))
	}
	return fmt.Sprintf("%s  n = %d, p = %.3g (%s); %s", t.Question, t.N, t.Corrected, t.Method, t.Visible)
}

// Verified says how many draws are verified.
func Verified(verified, drawn int) string {
	return fmt.Sprintf("%d of %s verified", verified, plural(drawn, "draw"))
}

func plural(n int, what string) string { return words.Plain.Plural(int64(n), what) }

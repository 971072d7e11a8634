package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Report is the result of all checks.
type Report struct {
	Schema   string        `json:"schema"`
	Role     kit.Role      `json:"role"`
	URL      string        `json:"url"`
	Agent    string        `json:"agent,omitempty"`   // what it calls itself
	Dialect  string        `json:"dialect,omitempty"` // the wrapping of the messages that it was sent
	Played   kit.Play      `json:"played"`            // whether our own agents have played with it
	Outcomes []kit.Outcome `json:"checks"`
	Seconds  float64       `json:"seconds"`
}

// ReportSchema is the value of Report.Schema.
const ReportSchema = "strategylab/conformance/v1"

// having returns the outcomes with a status, of a level if there is one.
func (r *Report) having(s kit.Status, l kit.Level) []kit.Outcome {
	return slices.DeleteFunc(slices.Clone(r.Outcomes), func(o kit.Outcome) bool { return o.Status != s || l != "" && o.Level != l })
}

// Count returns how many checks of a level ended with a status.
func (r *Report) Count(l kit.Level, s kit.Status) int { return len(r.having(s, l)) }

// From returns the report with the outcomes of a level and of those above it.
func (r *Report) From(lowest kit.Level) *Report {
	levels := from(lowest)
	out := *r
	out.Outcomes = slices.DeleteFunc(slices.Clone(r.Outcomes), func(o kit.Outcome) bool { return !slices.Contains(levels, o.Level) })
	return &out
}

// from returns a level and those above it, the most serious first.
func from(lowest kit.Level) []kit.Level { return Levels()[:slices.Index(Levels(), lowest)+1] }

// pages are how reports are written for people, and the failures in other reports.
var pages = template.Must(template.New("report").Funcs(template.FuncMap{"brief": brief, "xml": escaped}).Parse(
	`{{.Role}} at {{.URL}}{{with .Agent}}, display name {{printf "%q" .}}{{end}}{{with .Dialect}}, dialect {{.}}{{end}}

{{range .Failed}}{{template "failure" .}}
{{end}}
{{- with .Untested}}not tested:
{{template "list" .}}{{end}}
{{- with .Passed}}passed:
{{template "list" .}}{{end}}
{{- range .Levels}}{{printf "%-7s %3d passed, %d failed, %d not tested" . ($.Count . "passed") ($.Count . "failed") ($.Count . "skipped")}}
{{end}}our tolerant agents {{with .Played}}
	{{- if not .Tried}}have not played with it: {{.Why}}{{else if .Why}}cannot play with it: {{.Why}}{{else}}can play with it{{end}}
{{- end}}
strict agents {{.Strict}} ({{printf "%.1f" .Seconds}} s)
{{define "list"}}{{range .}}  {{printf "%-6s  %s" .Level .ID}}: {{or .Detail .Rule}}
{{end}}
{{end}}
{{- define "failure"}}FAIL  {{printf "%-6s  %s" .Level .ID}}
  rule      {{.Rule}}
  found     {{.Detail}}
{{range $i, $e := .Evidence}}{{if eq (len (slice $.Evidence $i)) 1}}{{if .From}}  received  {{brief .Request}}
{{else}}  sent      {{brief .Request}}
  answer    {{if .Error}}none: {{.Error}}{{else}}HTTP {{.Status}} {{if .Answer}}{{brief .Answer}}{{else}}with an empty body{{end}}{{end}}
{{end}}{{end}}{{end}}  to do     {{.Advice}}
{{end}}
{{- define "junit"}}<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="league.v2 {{.Role}} {{xml .URL}}" tests="{{len .Outcomes}}" failures="{{len .Failures}}" skipped="{{len .Skipped}}" time="{{printf "%.3f" .Seconds}}">
{{range .Outcomes}}  <testcase classname="{{$.Role}}.{{.Level}}" name="{{.ID}}" time="{{printf "%.3f" .Seconds}}">
	{{- if eq .Status "failed"}}
    <failure message="{{xml .Detail}}" type="{{.Level}}">{{xml (index $.Failures .ID)}}</failure>
  {{else if eq .Status "skipped"}}
    <skipped message="{{xml .Detail}}"></skipped>
  {{end}}</testcase>
{{end}}</testsuite>
{{end}}`))

// WriteText writes a report for people: failures, the most serious first, with their evidence;
// checks that could not be tested, and why; the totals; and whether tolerant and strict agents can
// play with the agent. Of checks below the lowest level it says nothing else. With all set, it also
// lists the checks that passed.
func (r *Report) WriteText(w io.Writer, all bool, lowest kit.Level) error {
	shown := r.From(lowest)
	page := struct {
		*Report
		Levels                   []kit.Level
		Failed, Untested, Passed []kit.Outcome
		Strict                   string
	}{Report: shown, Levels: from(lowest), Untested: shown.having(kit.Skipped, ""), Strict: r.strictly()}
	for _, l := range page.Levels {
		page.Failed = append(page.Failed, shown.having(kit.Failed, l)...)
	}
	if all {
		page.Passed = shown.having(kit.Passed, "")
	}
	return pages.Execute(w, page)
}

// strictly says whether strict agents can play, who need all but the checks of level wild.
func (r *Report) strictly() string {
	r = r.From(kit.Should)
	var failed []string
	for _, o := range r.having(kit.Failed, "") {
		failed = append(failed, o.ID)
	}
	const most = 3
	switch n, untested := len(failed), len(r.having(kit.Skipped, "")); {
	case n > most:
		return fmt.Sprintf("cannot play with it: %s and %d more failed", strings.Join(failed[:most], ", "), n-most)
	case n > 0:
		return fmt.Sprintf("cannot play with it: %s failed", strings.Join(failed, ", "))
	case untested > 0:
		return "can play with it, as far as it was tested: " + kit.Count(untested, "check was not", "checks were not")
	}
	return "can play with it"
}

// maxBrief bounds the bytes of a message in a text report.
const maxBrief = 1200

// brief cuts a message for people, and escapes what is not printable.
func brief(message string) string {
	if message == "" {
		return "an empty body"
	}
	message, cut := kit.Clip(message, maxBrief)
	var b strings.Builder
	for _, r := range message {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String() + cut
}

// WriteJUnit writes a report as JUnit XML, in the form that the common readers share. The class of
// a case is its role and level: build servers group by it.
func (r *Report) WriteJUnit(w io.Writer) error {
	page := struct {
		*Report
		Failures map[string]string // as text, by id
		Skipped  []kit.Outcome
	}{r, map[string]string{}, r.having(kit.Skipped, "")}
	for _, o := range r.having(kit.Failed, "") {
		var text strings.Builder
		if err := pages.ExecuteTemplate(&text, "failure", o); err != nil {
			return err
		}
		page.Failures[o.ID] = text.String()
	}
	return pages.ExecuteTemplate(w, "junit", page)
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}

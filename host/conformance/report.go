package conformance

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Report is the result of all checks.
type Report struct {
	Schema   string    `json:"schema"`
	Role     Role      `json:"role"`
	URL      string    `json:"url"`
	Agent    string    `json:"agent,omitempty"`   // what it calls itself
	Dialect  string    `json:"dialect,omitempty"` // the wrapping of the messages that it was sent
	Played   Play      `json:"played"`            // whether our own agents have played with it
	Outcomes []Outcome `json:"checks"`
	Seconds  float64   `json:"seconds"`
}

// ReportSchema is the value of Report.Schema.
const ReportSchema = "strategylab/conformance/v1"

// Count returns how many checks of a level ended with a status.
func (r *Report) Count(l Level, s Status) (n int) {
	for _, o := range r.Outcomes {
		if o.Level == l && o.Status == s {
			n++
		}
	}
	return n
}

// From returns the report with the outcomes of a level and of those above it.
func (r *Report) From(lowest Level) *Report {
	levels := Levels()
	levels = levels[:slices.Index(levels, lowest)+1]
	out := *r
	out.Outcomes = slices.DeleteFunc(slices.Clone(r.Outcomes), func(o Outcome) bool { return !slices.Contains(levels, o.Level) })
	return &out
}

// WriteText writes a report for people: failures, the most serious first, with their evidence;
// checks that could not be tested, and why; the totals; and whether tolerant and strict agents can
// play with the agent. Of checks below the lowest level it says nothing else. With all set, it also
// lists the checks that passed.
func (r *Report) WriteText(w io.Writer, all bool, lowest Level) error {
	whole := r
	r = r.From(lowest)
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s", r.Role, r.URL)
	if r.Agent != "" {
		fmt.Fprintf(&b, ", display name %q", r.Agent)
	}
	if r.Dialect != "" {
		fmt.Fprintf(&b, ", dialect %s", r.Dialect)
	}
	b.WriteString("\n\n")
	for _, l := range Levels() {
		for _, o := range r.Outcomes {
			if o.Level == l && o.Status == Failed {
				writeFailure(&b, o)
				b.WriteString("\n")
			}
		}
	}
	r.list(&b, Skipped, "not tested:")
	if all {
		r.list(&b, Passed, "passed:")
	}
	for _, l := range Levels()[:slices.Index(Levels(), lowest)+1] {
		fmt.Fprintf(&b, "%-7s %3d passed, %d failed, %d not tested\n", l, r.Count(l, Passed), r.Count(l, Failed), r.Count(l, Skipped))
	}
	fmt.Fprintf(&b, "our tolerant agents %s\nstrict agents %s (%.1f s)\n", played(r.Played), whole.strictly(), r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

// played says whether our tolerant agents can play: whether they have.
func played(p Play) string {
	switch {
	case !p.Tried:
		return "have not played with it: " + p.Why
	case p.Why != "":
		return "cannot play with it: " + p.Why
	}
	return "can play with it"
}

// strictly says whether strict agents can play, who need all but the checks of level wild.
func (r *Report) strictly() string {
	var failed []string
	untested := 0
	for _, o := range r.Outcomes {
		switch {
		case o.Level == Wild:
		case o.Status == Failed:
			failed = append(failed, o.ID)
		case o.Status == Skipped:
			untested++
		}
	}
	const most = 3
	switch n := len(failed); {
	case n > most:
		return fmt.Sprintf("cannot play with it: %s and %d more failed", strings.Join(failed[:most], ", "), n-most)
	case n > 0:
		return fmt.Sprintf("cannot play with it: %s failed", strings.Join(failed, ", "))
	case untested > 0:
		return "can play with it, as far as it was tested: " + kit.Count(untested, "check was not", "checks were not")
	}
	return "can play with it"
}

// list writes a line for each check with a status, if there are any.
func (r *Report) list(b *strings.Builder, s Status, heading string) {
	listed := slices.DeleteFunc(slices.Clone(r.Outcomes), func(o Outcome) bool { return o.Status != s })
	if len(listed) == 0 {
		return
	}
	fmt.Fprintln(b, heading)
	for _, o := range listed {
		fmt.Fprintf(b, "  %-6s  %s: %s\n", o.Level, o.ID, cmp.Or(o.Detail, o.Rule))
	}
	b.WriteString("\n")
}

func writeFailure(b *strings.Builder, o Outcome) {
	fmt.Fprintf(b, "FAIL  %-6s  %s\n", o.Level, o.ID)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %-9s %s\n", what, text)
		}
	}
	line("rule", o.Rule)
	line("found", o.Detail)
	if n := len(o.Evidence); n > 0 {
		e := o.Evidence[n-1]
		if e.From != "" {
			line("received", brief(e.Request))
		} else {
			line("sent", brief(e.Request))
			line("answer", answerOf(e))
		}
	}
	line("to do", o.Advice)
}

// answerOf returns the answer of an exchange, for people.
func answerOf(e Evidence) string {
	switch {
	case e.Error != "":
		return "none: " + e.Error
	case e.Answer == "":
		return fmt.Sprintf("HTTP %d with an empty body", e.Status)
	}
	return fmt.Sprintf("HTTP %d %s", e.Status, brief(e.Answer))
}

// maxBrief bounds the bytes of a message in a text report.
const maxBrief = 1200

// brief cuts a message for people, and escapes what is not printable.
func brief(message string) string {
	if message == "" {
		return "an empty body"
	}
	cut := ""
	if len(message) > maxBrief {
		cut = fmt.Sprintf("... (%d bytes more)", len(message)-maxBrief)
		message = message[:maxBrief]
	}
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

// The JUnit XML that build servers read, in the form that the common readers share.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a report as JUnit XML. The class of a case is its role and
// level: build servers group by it.
func (r *Report) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: fmt.Sprintf("league.v2 %s %s", r.Role, r.URL), Tests: len(r.Outcomes), Time: seconds(r.Seconds)}
	for _, o := range r.Outcomes {
		c := junitCase{Class: fmt.Sprintf("%s.%s", r.Role, o.Level), Name: o.ID, Time: seconds(o.Seconds)}
		switch o.Status {
		case Failed:
			s.Failures++
			var text strings.Builder
			writeFailure(&text, o)
			c.Failure = &junitMessage{Message: o.Detail, Type: string(o.Level), Text: text.String()}
		case Skipped:
			s.Skipped++
			c.Skipped = &junitMessage{Message: o.Detail}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

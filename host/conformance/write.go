package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WriteText writes a report for people: a line for each check that is not
// passed, with its evidence where it failed, and the sums. With all set, passed
// checks have a line as well.
func (r *Report) WriteText(w io.Writer, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s", r.Role, r.URL)
	if r.Agent != "" {
		fmt.Fprintf(&b, ", which calls itself %q", r.Agent)
	}
	if r.Dialect != "" {
		fmt.Fprintf(&b, ", spoken to in %s", r.Dialect)
	}
	b.WriteString("\n\n")
	for _, o := range r.Outcomes {
		if o.Status != Passed || all {
			o.text(&b)
		}
	}
	b.WriteString("\n")
	for _, l := range Levels() {
		fmt.Fprintf(&b, "%-7s %3d passed, %d failed, %d not tested\n", l, r.Count(l, Passed), r.Count(l, Failed), r.Count(l, Skipped))
	}
	switch level, failed := r.Failed(); {
	case !failed:
		b.WriteString("nothing that was tested breaks a rule")
	case level == Must:
		b.WriteString("a league with this agent will break")
	case level == Should:
		b.WriteString("the agent breaks rules; a league may break")
	default:
		b.WriteString("the agent deviates in ways that peers cope with")
	}
	fmt.Fprintf(&b, " (%.1f s)\n", r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

func (o *Outcome) text(b *strings.Builder) {
	mark := map[Status]string{Passed: "ok", Failed: "FAIL", Skipped: "skip"}[o.Status]
	fmt.Fprintf(b, "%-4s  %-6s  %s: %s\n", mark, o.Level, o.ID, o.Rule)
	if o.Detail != "" {
		fmt.Fprintf(b, "              %s\n", o.Detail)
	}
	if o.Status != Failed {
		return
	}
	if n := len(o.Evidence); n > 0 {
		e := o.Evidence[n-1]
		fmt.Fprintf(b, "              sent     %s\n", e.Request)
		switch {
		case e.Error != "":
			fmt.Fprintf(b, "              no answer: %s\n", e.Error)
		case e.Answer == "":
			fmt.Fprintf(b, "              answered HTTP %d with an empty body\n", e.Status)
		default:
			fmt.Fprintf(b, "              answered HTTP %d %s\n", e.Status, e.Answer)
		}
	}
	if o.Advice != "" {
		fmt.Fprintf(b, "              what to do: %s\n", o.Advice)
	}
}

// The JUnit XML that build servers read, as its common readers agree on it.
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
// level, so that build servers group by it.
func (r *Report) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: fmt.Sprintf("league.v2 %s %s", r.Role, r.URL), Tests: len(r.Outcomes), Time: seconds(r.Seconds)}
	for _, o := range r.Outcomes {
		c := junitCase{Class: fmt.Sprintf("%s.%s", r.Role, o.Level), Name: o.ID, Time: seconds(o.Seconds)}
		switch o.Status {
		case Failed:
			s.Failures++
			var text strings.Builder
			o.text(&text)
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

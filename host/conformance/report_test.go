package conformance_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/conformance"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has one outcome of every kind.
func sample() *conformance.Report {
	return &conformance.Report{
		Schema: conformance.ReportSchema, Role: conformance.Player, URL: "http://127.0.0.1:8101/mcp", Agent: "Ada", Dialect: "contracts", Seconds: 1.25,
		Played: conformance.Play{Tried: true, Why: "it did not join"},
		Outcomes: []conformance.Outcome{
			{ID: "player.a.passed", Level: conformance.Must, Rule: "One.", Status: conformance.Passed, Seconds: 0.001},
			{ID: "player.a.measured", Level: conformance.Should, Rule: "Two.", Status: conformance.Passed, Detail: "15 answers took 1 ms"},
			{ID: "player.b.wild", Level: conformance.Wild, Rule: "Three.", Status: conformance.Failed, Detail: "it was accepted", Advice: "Look first.", Evidence: []conformance.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: "{}\x00", Status: 200, Answer: `{"result":{}}`},
			}},
			{ID: "player.b.must", Level: conformance.Must, Rule: "Four.", Status: conformance.Failed, Detail: "protocol is missing", Advice: "Add it.", Evidence: []conformance.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: "an earlier one", Status: 200},
				{From: "127.0.0.1:4711", Request: `{"jsonrpc":"2.0"}`},
			}},
			{ID: "player.b.silent", Level: conformance.Must, Rule: "Five.", Status: conformance.Failed, Detail: "it was not answered", Advice: "Answer.", Evidence: []conformance.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: strings.Repeat("x", 1300), Error: "no reply within 5s"},
			}},
			{ID: "player.b.empty", Level: conformance.Should, Rule: "Six.", Status: conformance.Failed, Detail: "HTTP 500", Advice: "Do not.", Evidence: []conformance.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Status: 500},
			}},
			{ID: "player.c.skipped", Level: conformance.Should, Rule: "Seven.", Status: conformance.Skipped, Detail: "start it with the manager <here>"},
		},
	}
}

func TestWriteText(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"report.txt": false, "report_all.txt": true} {
		var got bytes.Buffer
		if err := sample().WriteText(&got, all, conformance.Wild); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got.Bytes(), want)
		}
	}
}

// TestVerdict says who can play with the agent, whatever levels are printed.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for level, want := range map[conformance.Level][2]string{
		conformance.Must:   {"our tolerant agents cannot play with it: it did not join", "strict agents cannot play with it: player.b.must, player.b.silent failed"},
		conformance.Should: {"our tolerant agents can play with it", "strict agents cannot play with it: player.b.empty failed"},
		conformance.Wild:   {"our tolerant agents have not played with it: it is not registered", "strict agents can play with it, as far as it was tested: 1 check was not"},
	} {
		r := sample()
		switch level {
		case conformance.Should:
			r.Played = conformance.Play{Tried: true}
		case conformance.Wild:
			r.Played = conformance.Play{Why: "it is not registered"}
		}
		r.Outcomes = slices.DeleteFunc(r.Outcomes, func(o conformance.Outcome) bool {
			return o.Status == conformance.Failed && o.Level != level
		})
		var got strings.Builder
		if err := r.WriteText(&got, false, conformance.Must); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(got.String()), "\n")
		if end := lines[len(lines)-2:]; end[0] != want[0] || end[1] != want[1]+" (1.2 s)" {
			t.Errorf("%q: %q", level, end)
		}
		if strings.Contains(got.String(), "should") || strings.Contains(got.String(), "wild") {
			t.Errorf("%q: it prints what it does not judge by:\n%s", level, got.String())
		}
		if worst, failed := r.Failed(); worst != level || !failed {
			t.Errorf("%q: worst %q, %v", level, worst, failed)
		}
	}
}

// TestWriteJUnit reads the file as build servers do.
func TestWriteJUnit(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	if err := sample().WriteJUnit(&got); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     float64  `xml:"time,attr"`
		Cases    []struct {
			Class   string `xml:"classname,attr"`
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(got.Bytes(), &suite); err != nil {
		t.Fatalf("%v in\n%s", err, got.Bytes())
	}
	if suite.Tests != 7 || suite.Failures != 4 || suite.Skipped != 1 || suite.Time != 1.25 || len(suite.Cases) != 7 {
		t.Errorf("the suite is %+v", suite)
	}
	wild := suite.Cases[2]
	if wild.Class != "player.wild" || wild.Name != "player.b.wild" || wild.Failure == nil || wild.Failure.Message != "it was accepted" || !strings.Contains(wild.Failure.Text, `sent      {}\u0000`) {
		t.Errorf("a failure is %+v", wild)
	}
	if s := suite.Cases[6].Skipped; s == nil || s.Message != "start it with the manager <here>" {
		t.Errorf("a skipped check is %+v", suite.Cases[6])
	}
}

// TestJSON keeps what a report says.
func TestJSON(t *testing.T) {
	t.Parallel()
	want := sample()
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got conformance.Report
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestChecks holds the descriptions of all checks to their form.
func TestChecks(t *testing.T) {
	t.Parallel()
	for _, role := range conformance.Roles() {
		var before []string
		for _, c := range conformance.Checks(role) {
			if !strings.HasPrefix(c.ID, string(role)+".") || strings.Count(c.ID, ".") != 2 {
				t.Errorf("%s is no id of role, subject and rule", c.ID)
			}
			if slices.Contains(before, c.ID) {
				t.Errorf("two checks are called %s", c.ID)
			}
			if !slices.Contains(conformance.Levels(), c.Level) {
				t.Errorf("%s is of level %q", c.ID, c.Level)
			}
			if c.Rule == "" || strings.Contains(c.Rule, "\n") || c.Advice == "" {
				t.Errorf("%s has the rule %q and the advice %q", c.ID, c.Rule, c.Advice)
			}
			for _, id := range c.Needs {
				if !slices.Contains(before, id) {
					t.Errorf("%s needs %s, which does not come before it", c.ID, id)
				}
			}
			before = append(before, c.ID)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	checks := conformance.Checks(conformance.Player)
	ids := func(only ...string) (ids []string) {
		chosen, err := conformance.Select(checks, only)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chosen {
			ids = append(ids, c.ID)
		}
		return ids
	}
	if got := ids(); len(got) != len(checks) {
		t.Errorf("nothing chosen is %d of %d", len(got), len(checks))
	}
	if got := ids("player.rpc.number", "player.join.fields"); !slices.Equal(got, []string{"player.join.fields", "player.rpc.number"}) {
		t.Errorf("two are %q", got)
	}
	if got := ids("player.over"); len(got) != 3 {
		t.Errorf("a subject is %q", got)
	}
	for _, bad := range []string{"player.ove", "player.over.", "", "referee"} {
		if _, err := conformance.Select(checks, []string{bad}); err == nil {
			t.Errorf("%q is taken for a check", bad)
		}
	}
	if _, err := conformance.ParseRole("spectator"); err == nil {
		t.Error("a spectator is a role")
	}
	if _, err := conformance.Run(t.Context(), conformance.Config{Role: "spectator"}); err == nil {
		t.Error("a spectator is checked")
	}
	if _, err := conformance.Run(t.Context(), conformance.Config{Role: conformance.Player, Only: []string{"nothing"}}); err == nil {
		t.Error("no check is made")
	}
}

package conformance_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func sample() *conformance.Report {
	return &conformance.Report{
		Schema: conformance.ReportSchema, Role: kit.Player, URL: "http://127.0.0.1:8101/mcp", Agent: "Ada", Dialect: "contracts", Seconds: 1.25,
		Played: kit.Play{Tried: true, Why: "it did not join"},
		Outcomes: []kit.Outcome{
			{ID: "player.a.passed", Level: kit.Must, Rule: "One.", Status: kit.Passed, Seconds: 0.001},
			{ID: "player.a.measured", Level: kit.Should, Rule: "Two.", Status: kit.Passed, Detail: "15 answers took 1 ms"},
			{ID: "player.b.wild", Level: kit.Wild, Rule: "Three.", Status: kit.Failed, Detail: "it was accepted", Advice: "Look first.", Evidence: []kit.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: "{}\x00", Status: 200, Answer: `{"result":{}}`},
			}},
			{ID: "player.b.must", Level: kit.Must, Rule: "Four.", Status: kit.Failed, Detail: "protocol is missing", Advice: "Add it.", Evidence: []kit.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: "an earlier one", Status: 200},
				{From: "127.0.0.1:4711", Request: `{"jsonrpc":"2.0"}`},
			}},
			{ID: "player.b.silent", Level: kit.Must, Rule: "Five.", Status: kit.Failed, Detail: "it was not answered", Advice: "Answer.", Evidence: []kit.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Request: strings.Repeat("x", 1300), Error: "no reply within 5s"},
			}},
			{ID: "player.b.empty", Level: kit.Should, Rule: "Six.", Status: kit.Failed, Detail: "HTTP 500", Advice: "Do not.", Evidence: []kit.Evidence{
				{To: "http://127.0.0.1:8101/mcp", Status: 500},
			}},
			{ID: "player.c.skipped", Level: kit.Should, Rule: "Seven.", Status: kit.Skipped, Detail: "start it with the manager <here>"},
		},
	}
}

// TestWrite compares the reports for people and for build servers with golden files.
func TestWrite(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer) error{
		"report.txt":     func(w io.Writer) error { return sample().WriteText(w, false, kit.Wild) },
		"report_all.txt": func(w io.Writer) error { return sample().WriteText(w, true, kit.Wild) },
		"report.xml":     sample().WriteJUnit,
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
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
	for level, want := range map[kit.Level][2]string{
		kit.Must:   {"our tolerant agents cannot play with it: it did not join", "strict agents cannot play with it: player.b.must, player.b.silent failed"},
		kit.Should: {"our tolerant agents can play with it", "strict agents cannot play with it: player.b.empty failed"},
		kit.Wild:   {"our tolerant agents have not played with it: it is not registered", "strict agents can play with it, as far as it was tested: 1 check was not"},
	} {
		r := sample()
		switch level {
		case kit.Should:
			r.Played = kit.Play{Tried: true}
		case kit.Wild:
			r.Played = kit.Play{Why: "it is not registered"}
		}
		r.Outcomes = slices.DeleteFunc(r.Outcomes, func(o kit.Outcome) bool {
			return o.Status == kit.Failed && o.Level != level
		})
		var got strings.Builder
		if err := r.WriteText(&got, false, kit.Must); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(got.String()), "\n")
		if end := lines[len(lines)-2:]; end[0] != want[0] || end[1] != want[1]+" (1.2 s)" {
			t.Errorf("%q: %q", level, end)
		}
		if strings.Contains(got.String(), "should") || strings.Contains(got.String(), "wild") {
			t.Errorf("%q: it prints what it does not judge by:\n%s", level, got.String())
		}
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

// TestSelect has what ExampleSelect leaves out.
func TestSelect(t *testing.T) {
	t.Parallel()
	checks := conformance.Checks(kit.Player)
	if all, err := conformance.Select(checks, nil); err != nil || len(all) != len(checks) {
		t.Errorf("nothing chosen is %d of %d, %v", len(all), len(checks), err)
	}
	for _, bad := range []string{"player.ove", "player.over.", "", "referee"} {
		if _, err := conformance.Select(checks, []string{bad}); err == nil {
			t.Errorf("%q is taken for a check", bad)
		}
	}
	for _, bad := range []kit.Config{{Role: "spectator"}, {Role: kit.Player, Only: []string{"nothing"}}} {
		if _, err := conformance.Run(t.Context(), bad); err == nil {
			t.Errorf("%+v is run", bad)
		}
	}
}

func ExampleSelect() {
	checks, err := conformance.Select(conformance.Checks(kit.Player), []string{"player.join", "player.end.ack"})
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range checks {
		fmt.Printf("%-6s %s\n", c.Level, c.ID)
	}
	// Output:
	// must   player.join.answer
	// should player.join.fields
	// should player.join.again
	// should player.end.ack
}

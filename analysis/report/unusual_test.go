package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// unusual are runs at the edges of what can be reported.
func unusual(t *testing.T) map[string]report.Run {
	t.Helper()
	coin := func(name string) entrant { return entrant{name: name, kind: "lua", even: 0.5} }
	fails := func(name string, percent int, f game.Fault) entrant {
		return entrant{name: name, kind: "lua", even: 0.5, broken: percent, fault: f, where: "line 1: " + name + "\nline 2"}
	}
	var many []entrant
	for i := range 14 {
		many = append(many, entrant{name: fmt.Sprintf("s%02d", i), kind: "builtin", even: float64(i) / 13})
	}
	same := entrant{name: "one", kind: "builtin", even: 1}
	other := same
	other.name = "two"
	third := same
	third.name = "three"
	const fair = "uniform:1-10"
	return map[string]report.Run{
		"two players, one league":      play(t, 1, 1, fair, coin("a"), coin("b")),
		"two players, no league":       play(t, 0, 1, fair, coin("a"), coin("b")),
		"two players, an unfair draw":  play(t, 40, 2, "weights:2=3,3=1", entrant{name: "even", kind: "lua", even: 1}, entrant{name: "odd", kind: "lua"}),
		"all matches tied":             play(t, 30, 2, fair, same, other, third),
		"all matches lost by all":      play(t, 10, 2, fair, fails("a", 100, game.FaultQuarantined), fails("b", 100, game.FaultCrash), fails("c", 100, game.FaultForfeit)),
		"one that is far behind":       play(t, 60, 2, fair, coin("a"), coin("b"), coin("c"), fails("d", 100, game.FaultError)),
		"one that rarely fails":        play(t, 60, 4, fair, coin("a"), coin("b"), coin("c"), fails("d", 1, game.FaultTimeout)),
		"two leagues, fourteen":        play(t, 2, 1, fair, many...),
		"a number that is always even": play(t, 30, 1, "weights:2=1", many[0], many[7], many[13]),
		"long names":                   play(t, 20, 1, fair, coin(strings.Repeat("long-", 40)+"a"), coin(strings.Repeat("長", 120)), coin("c")),
		"hostile names": play(t, 20, 1, fair, coin("a,b\"c\";'d"), coin("=1+1|2"), coin("<script>alert(1)</script>"), coin("x\x1b[31m\ny\u202e"),
			fails("%s %d %!v", 30, game.FaultInvalid)),
	}
}

// The screen of any run fits its width, names each strategy and has no number that
// does not exist.
func TestUnusualTables(t *testing.T) {
	t.Parallel()
	for name, r := range unusual(t) {
		for _, details := range []bool{false, true} {
			for _, width := range []int{0, 132, 80, 40} {
				var buf bytes.Buffer
				if err := report.WriteTable(&buf, report.New(r), report.Screen{Width: width, Details: details}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text := buf.String()
				for _, bad := range []string{"NaN", "Inf", "%!", "all 1 ", "1 leagues", "1 matches", "  .", "0 of 0"} {
					if strings.Contains(strings.ReplaceAll(text, "%!v", ""), bad) {
						t.Errorf("%s, details %t, width %d: %q in\n%s", name, details, width, bad, text)
					}
				}
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if i := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
						t.Errorf("%s: %q is shown", name, line)
					}
					if n := utf8.RuneCountInString(line); width > 0 && n > width && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("%s, width %d: line of %d: %q", name, width, n, line)
					}
				}
				if name == "long names" || name == "hostile names" {
					continue // which are shortened or replaced
				}
				for _, p := range r.Estimates.Players {
					if !strings.Contains(text, p.Name) {
						t.Errorf("%s, details %t, width %d: %s is not in\n%s", name, details, width, p.Name, text)
					}
				}
			}
		}
	}
}

// lines reads a CSV file as a list of cells by column.
func lines(t *testing.T, text []byte) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("no CSV: %v", err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		line := map[string]string{}
		for i, column := range rows[0] {
			if _, twice := line[column]; twice {
				t.Errorf("the column %s is there twice", column)
			}
			line[column] = row[i]
		}
		all = append(all, line)
	}
	return all
}

func whole(t *testing.T, line map[string]string, columns ...string) (sum int) {
	t.Helper()
	for _, c := range columns {
		n, err := strconv.Atoi(line[c])
		if err != nil {
			t.Errorf("column %s: %v", c, err)
		}
		sum += n
	}
	return sum
}

// ordered checks that each estimate of a line lies in its interval.
func ordered(t *testing.T, name string, line map[string]string) {
	t.Helper()
	for column := range maps.Keys(line) {
		measure, is := strings.CutSuffix(column, "_low")
		if !is {
			continue
		}
		low, errLow := strconv.ParseFloat(line[column], 64)
		is = line[measure] == ""
		if is && (line[column] != "" || line[measure+"_high"] != "") {
			t.Errorf("%s: %s has an interval and no value", name, measure)
		}
		if is {
			continue
		}
		x, err := strconv.ParseFloat(line[measure], 64)
		high, errHigh := strconv.ParseFloat(line[measure+"_high"], 64)
		if err != nil || errLow != nil || errHigh != nil || low > x || x > high {
			t.Errorf("%s: %s is %q, %q to %q", name, measure, line[measure], line[column], line[measure+"_high"])
		}
	}
}

// The CSV files of any run can be read by others, and their numbers add up.
func TestUnusualCSV(t *testing.T) {
	t.Parallel()
	for name, r := range unusual(t) {
		var players, pairs bytes.Buffer
		if err := report.WritePlayersCSV(&players, report.New(r)); err != nil {
			t.Fatal(err)
		}
		if err := report.WritePairsCSV(&pairs, report.New(r)); err != nil {
			t.Fatal(err)
		}
		n, leagues := len(r.Estimates.Players), r.Estimates.Leagues
		list, titles := lines(t, players.Bytes()), 0.0
		if len(list) != n {
			t.Errorf("%s: %d players, want %d", name, len(list), n)
		}
		for i, line := range list {
			ordered(t, name, line)
			if !slices.ContainsFunc(r.Plan.Field, func(e results.Entrant) bool { return e.Name == line["name"] }) {
				t.Errorf("%s: there is no strategy %q", name, line["name"])
			}
			if got, want := whole(t, line, "wins", "draws", "losses"), whole(t, line, "matches"); got != want || want != leagues*(n-1)*r.Plan.Legs {
				t.Errorf("%s, %s: %d results in %d matches, want %d", name, line["name"], got, want, leagues*(n-1)*r.Plan.Legs)
			}
			best, worst, tier := whole(t, line, "place_best"), whole(t, line, "place_worst"), whole(t, line, "tier")
			if best < 1 || best > i+1 || worst < i+1 || worst > n || tier < 1 && leagues > 1 || tier > n {
				t.Errorf("%s, %s: place %d is said to be %d to %d, tier %d", name, line["name"], i+1, best, worst, tier)
			}
			if share, err := strconv.ParseFloat(line["champion_share"], 64); err == nil {
				titles += share
			}
		}
		if leagues > 0 && (titles < 0.999 || titles > 1.001) {
			t.Errorf("%s: the shares of titles add up to %v", name, titles)
		}
		all := lines(t, pairs.Bytes())
		if len(all) != n*(n-1)/2 {
			t.Errorf("%s: %d pairs, want %d", name, len(all), n*(n-1)/2)
		}
		for _, line := range all {
			ordered(t, name, line)
			who, matches := line["a"]+" and "+line["b"], whole(t, line, "matches")
			if matches != leagues*r.Plan.Legs || whole(t, line, "clean") > matches || whole(t, line, "wins_a", "wins_b", "draws") > matches {
				t.Errorf("%s, %s: %v", name, who, line)
			}
			for _, column := range []string{"p", "p_holm"} {
				if p, err := strconv.ParseFloat(line[column], 64); line[column] != "" && (err != nil || p < 0 || p > 1) {
					t.Errorf("%s, %s: %s is %s", name, who, column, line[column])
				}
			}
		}
	}
}

// The document of any run is JSON in which players and pairs are complete and agree
// with the CSV on who is where.
func TestUnusualDocuments(t *testing.T) {
	t.Parallel()
	for name, r := range unusual(t) {
		var buf, players bytes.Buffer
		if err := report.WriteJSON(&buf, report.New(r)); err != nil {
			t.Fatal(err)
		}
		if err := report.WritePlayersCSV(&players, report.New(r)); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Leagues int
			Matches int
			Tiers   [][]string
			Players []struct {
				Name         string
				RankInterval [2]int `json:"rank_interval"`
				Ranks        map[string]int
			}
			Pairs []any
			Plan  struct{ Field []string }
		}
		if err := json.Unmarshal(buf.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := len(r.Estimates.Players)
		if doc.Leagues != r.Estimates.Leagues || doc.Matches != doc.Leagues*n*(n-1)/2*r.Plan.Legs || len(doc.Pairs) != n*(n-1)/2 || len(doc.Plan.Field) != n {
			t.Errorf("%s: %d leagues, %d matches, %d pairs, %d in the field", name, doc.Leagues, doc.Matches, len(doc.Pairs), len(doc.Plan.Field))
		}
		seen := 0
		for _, tier := range doc.Tiers {
			seen += len(tier)
		}
		if seen != n && doc.Leagues > 0 {
			t.Errorf("%s: %d of %d strategies have a tier: %q", name, seen, n, doc.Tiers)
		}
		for i, line := range lines(t, players.Bytes()) {
			p := doc.Players[i]
			if p.Name != line["name"] || fmt.Sprint(p.RankInterval[0], p.RankInterval[1]) != line["place_best"]+" "+line["place_worst"] {
				t.Errorf("%s: the document has %v, the CSV file %v", name, p, line)
			}
			leagues := 0
			for _, times := range p.Ranks {
				leagues += times
			}
			if leagues != doc.Leagues {
				t.Errorf("%s: %s has a rank in %d of %d leagues", name, p.Name, leagues, doc.Leagues)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// What is wrong with an input is said in a sentence, whatever it is.
func TestBadInputsOverMCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var scripts []any
	for i := range 17 {
		name := fmt.Sprintf("s%d", i)
		write(t, dir, "scripts/"+name+".lua", "function choose() return 1 end")
		scripts = append(scripts, knownPlayer(name, 1))
	}
	a := assist(t, dir, "--max-runs", "1000")
	field := []any{knownPlayer("random", 3)}
	var crowd []any
	for i := range 9 {
		crowd = append(crowd, luaPlayer(fmt.Sprintf("p%d", i), "function choose() return 1 end"))
	}
	for _, bad := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"run_experiment", map[string]any{}, "/players is missing"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 1)}}, "a league needs at least 2 players, but this field has 1"},
		{"run_experiment", map[string]any{"players": field, "runs": 1001}, "/runs want at most 1000"},
		{"run_experiment", map[string]any{"players": field, "leagues": 10}, `there is not: "leagues"`},
		{"run_experiment", map[string]any{"players": field, "draw": "dice"}, `draw "dice": want uniform:FIRST-LAST or weights:`},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("randon", 3)}}, `no strategy "randon"; did you mean "random"?`},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("../../etc/passwd", 3)}}, "/players/0/name want a text that matches"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 1), knownPlayer("random", 1)}}, "two players are called random"},
		{"run_experiment", map[string]any{"players": []any{map[string]any{"name": "x", "source": "x"}, field[0]}}, "source and language (lua or js) need each other"},
		{"run_experiment", map[string]any{"players": []any{luaPlayer("x", "function"), field[0]}}, "player x does not load: x.lua:1: load: "},
		{"run_experiment", map[string]any{"players": crowd}, "9 players have a source"},
		{"run_experiment", map[string]any{"players": scripts}, "17 players are scripts, each in its own process; want at most 16"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 8), knownPlayer("role", 8), knownPlayer("biased", 8), knownPlayer("markov-1", 8), knownPlayer("markov-2", 1)}}, "the field has 33 players"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 8), knownPlayer("role", 8), knownPlayer("biased", 8)}, "runs": 1000, "legs": 100}, "27600000 matches, want at most 5000000"},
		{"run_experiment", map[string]any{"players": []any{"../../etc/passwd", "random"}}, "/players/0 want a text that matches"},
		{"run_experiment", map[string]any{"players": []any{7, "random"}}, "/players/0 is of type number, want string or object"},
		{"compare_strategies", map[string]any{"player": "random", "baseline": "random"}, "player and baseline are both called random"},
		{"explain_strategy", map[string]any{"player": map[string]any{"name": "random", "path": "x"}}, `/player has a property that there is not: "path"`},
		{"show_strategy", map[string]any{"name": "scripts/mine.lua"}, "/name want a text that matches"},
		{"show_strategy", map[string]any{"name": "nobody"}, `no strategy "nobody"`},
		{"check_strategy", map[string]any{"language": "python", "source": "x"}, `/language want one of "lua", "js"`},
		{"check_strategy", map[string]any{"language": "lua", "source": strings.Repeat("x", 256<<10+1)}, "/source has 262145 characters, want at most 262144"},
		{"league_status", map[string]any{"league": "../x"}, "/league want a text that matches"},
		{"save_strategy", map[string]any{"name": "x", "language": "lua", "source": "x"}, `unknown tool "save_strategy"`},
	} {
		if got := a.refused(bad.tool, bad.input); !strings.Contains(got, bad.want) || strings.Contains(got, filepath.Dir(a.program)) {
			t.Errorf("%s %.200v:\n got %s\nwant %s", bad.tool, bad.input, got, bad.want)
		}
	}
	_, err := a.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "write_strategy", Arguments: map[string]string{"language": "cobol"}})
	if err == nil || !strings.Contains(err.Error(), `language is "cobol", want lua or js`) {
		t.Errorf("a prompt for another language: %v", err)
	}
}

// Nothing that is asked for leads out of the lab's folders, by whatever link.
func TestMCPStaysInItsFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := "function choose() return 1 end -- secret\n"
	write(t, dir, "outside/secret.lua", secret)
	write(t, dir, "outside/leagues/open/standings.json", `{"league_id":"secret"}`)
	write(t, dir, "outside/report.txt", "secret")
	write(t, dir, "lab/scripts/own.lua", "-- Own: always even.\nfunction choose() return 'even' end\n")
	write(t, dir, "lab/data/reports/real/report.txt", "a report")
	write(t, dir, "lab/data/data/leagues/kept/standings.json", `{"league_id":"kept","status":"RUNNING","total_rounds":3,"rounds_completed":1,"standings":[{"rank":1,"player_id":"P01","played":2,"points":6}]}`)
	for link, to := range map[string]string{
		"lab/scripts/linked.lua": "../../outside/secret.lua", "lab/data/reports/linked": "../../../outside",
		"lab/data/data/leagues/open": "../../../../outside/leagues/open", "lab/data/reports/real/summary.json": "../../../../outside/report.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	a := assist(t, filepath.Join(dir, "lab"), "--data-dir", "data", "--allow-save")
	var said []string
	say := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, string(text))
	}
	list := answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "lua"})
	say(list)
	if len(list.Strategies) != 2 || list.Strategies[0].Error == "" || list.Strategies[1].Title != "Own: always even." {
		t.Errorf("strategies: %+v", list)
	}
	say(answer[assistants.ShowOutput](a, "show_strategy", map[string]any{"name": "linked"}))
	say(a.refused("run_experiment", map[string]any{"players": []any{knownPlayer("linked", 1), knownPlayer("random", 2)}}))
	say(a.refused("save_strategy", map[string]any{"name": "linked", "language": "lua", "source": "function choose() return 1 end", "overwrite": true}))
	leagues := answer[assistants.LeagueOutput](a, "league_status", nil)
	say(leagues)
	if i := slices.IndexFunc(leagues.Leagues, func(l assistants.League) bool { return l.ID == "kept" }); i < 0 || leagues.Leagues[i].Rounds != 3 || leagues.Leagues[i].Standings[0].Points != 6 {
		t.Errorf("leagues: %+v", leagues)
	}
	for _, uri := range []string{"real/json", "linked", "..", "%2e%2e", "real%2f..%2f..%2fsecret", "../outside", "real/../linked", "real/../../../outside/report.txt", ""} {
		if text, err := a.read("strategylab://reports/" + uri); err == nil {
			t.Errorf("report %q: %q, want an error", uri, text)
		} else {
			say(err.Error())
		}
	}
	if text, err := a.read("strategylab://reports/real"); err != nil || text != "a report" {
		t.Errorf("a report that is there: %v, %q", err, text)
	}
	for _, s := range said {
		if strings.Contains(s, "secret") && !strings.Contains(s, "%2fsecret") || strings.Contains(s, dir) {
			t.Errorf("said %s", s)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "outside/secret.lua")); err != nil || string(got) != secret {
		t.Errorf("the file outside: %v, %q", err, got)
	}
}

// Scripts are saved where that is allowed, and never over others unasked.
func TestSaveStrategy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := assist(t, dir, "--allow-save")
	first, second := "function choose() return 'even' end", "-- Second.\nfunction choose() return 'odd' end"
	in := map[string]any{"name": "mine", "language": "lua", "source": first}
	if out := answer[assistants.SaveOutput](a, "save_strategy", in); out.Replaced || out.File != "scripts/mine.lua" {
		t.Errorf("saved: %+v", out)
	}
	in["source"] = second
	if got := a.refused("save_strategy", in); !strings.Contains(got, "overwrite: true") {
		t.Errorf("saved twice: %s", got)
	}
	if shown := answer[assistants.ShowOutput](a, "show_strategy", map[string]any{"name": "mine"}); shown.Source != first {
		t.Errorf("after a refusal: %q", shown.Source)
	}
	in["overwrite"] = true
	if out := answer[assistants.SaveOutput](a, "save_strategy", in); !out.Replaced {
		t.Errorf("overwritten: %+v", out)
	}
	if shown := answer[assistants.ShowOutput](a, "show_strategy", map[string]any{"name": "mine"}); shown.Source != second || shown.Title != "Second." {
		t.Errorf("overwritten: %+v", shown)
	}
	for want, in := range map[string]map[string]any{
		"does not load":                {"name": "x", "language": "lua", "source": "function"},
		"another strategy is called":   {"name": "random", "language": "lua", "source": first},
		"is called mine (scripts/mine": {"name": "mine", "language": "js", "source": "function choose() { return 1; }"},
	} {
		if got := a.refused("save_strategy", in); !strings.Contains(got, want) {
			t.Errorf("save %v: %s, want %s", in, got, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "scripts", "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v: %q", err, files)
	}
}

// The managers that were named are asked, and no others.
func TestLeagueStatusOfManagers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := start(t, dir, "host", "--legs", "1", "--listen", "127.0.0.1:0", "--field", "random,role", "--players", "3", "--league-id", "spring", "--data-dir", "kept", "--admin-token", "open-sesame")
	url := host.event("listening")["manager"].(string)
	a := assist(t, t.TempDir(), "--manager", "spring="+url, "--manager", "gone=http://127.0.0.1:1/mcp", "--data-dir", filepath.Join(dir, "kept"), "--admin-token", "open-sesame")
	var out assistants.LeagueOutput
	until(t, "two registered players", func() bool {
		out = answer[assistants.LeagueOutput](a, "league_status", nil)
		return len(out.Leagues) > 0 && len(out.Leagues[0].Standings) == 2
	})
	if g := out.Leagues[0]; g.ID != "spring" || g.Origin != "manager" || g.Status == "" || g.Error != "" {
		t.Errorf("a league that waits: %+v", g)
	}
	if g := out.Leagues[1]; g.ID != "gone" || g.Error == "" {
		t.Errorf("a manager that is not there: %+v", g)
	}
	host.signal(os.Interrupt)
	host.code()
	out = answer[assistants.LeagueOutput](a, "league_status", map[string]any{"league": "spring"})
	if len(out.Leagues) != 2 || out.Leagues[0].Error == "" || out.Leagues[1].Origin != "stored" || len(out.Leagues[1].Standings) != 2 {
		t.Errorf("after its end: %+v", out)
	}
}

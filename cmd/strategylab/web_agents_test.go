package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// spectator follows the page of a league by its events.
type spectator struct {
	t     *testing.T
	parts map[string]string // content by id
	all   strings.Builder   // what it was sent
	lines *bufio.Scanner
}

// spectate opens a page, and its events.
func spectate(t *testing.T, url string) *spectator {
	t.Helper()
	get := func(path string) io.Reader {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp.Body
	}
	body, err := io.ReadAll(get(""))
	if err != nil {
		t.Fatal(err)
	}
	s := &spectator{t: t, parts: make(map[string]string)}
	s.lines = bufio.NewScanner(get("events?since=" + regexp.MustCompile(`data-version="([^"]*)"`).FindStringSubmatch(string(body))[1]))
	s.lines.Buffer(nil, 1<<20)
	return s
}

// until reads events until a part matches.
func (s *spectator) until(part, pattern string) string {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	for !want.MatchString(s.parts[part]) {
		if !s.lines.Scan() {
			s.t.Fatalf("the events end (%v) before %s matches %s: %s", s.lines.Err(), part, pattern, s.parts[part])
		}
		data, found := strings.CutPrefix(s.lines.Text(), "data: {")
		if !found {
			continue
		}
		s.all.WriteString(data)
		var e struct{ Part, HTML string }
		if err := json.Unmarshal([]byte("{"+data), &e); err != nil {
			s.t.Fatal(err)
		}
		s.parts[e.Part] = e.HTML
	}
	return s.parts[part]
}

// Manager, referee and players in processes of their own: the page of the manager shows who
// is asked and who has chosen while a match is played, and what they chose not before it
// is over; which version of an edited script plays; and why somebody lost.
func TestAgentsOfOtherProcessesOnThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(text string) {
		t.Helper()
		write(t, dir, "mine.lua", text)
	}
	save("function choose(turn)\n  if turn.round == 1 then error('not ready') end\n  return 'even'\nend\n")
	lead := start(t, dir, "manager", "--legs", "4", "--listen", "127.0.0.1:0", "--players", "2")
	url := lead.event("listening")["manager"].(string)
	s := spectate(t, strings.TrimSuffix(url, "mcp"))
	start(t, dir, "referee", "--manager", url, "--choice-timeout", "10m").event("registered")
	mine := start(t, dir, "player", "--strategy", "./mine.lua", "--name", "Mine", "--watch", "--manager", url, "--listen", "127.0.0.1:0", "--choice-timeout", "10m")
	mine.event("registered")
	other := join(t, url)
	other.round(t, 1)
	s.until("troubles", `Mine(?s:.*)strategy makes no choice in this match`)
	other.resume <- struct{}{}
	other.round(t, 2)
	during := s.until("matches", `Round 2(?s:.*choice in".*choice asked"|.*choice asked".*choice in")`)
	if !regexp.MustCompile(`data-deadline="\d{13}"`).MatchString(during) {
		t.Errorf("the page has no clock:\n%s", during)
	}
	for _, choice := range []string{">even<", ">odd<"} {
		if strings.Contains(during, choice) {
			t.Errorf("a choice is shown before the match is over:\n%s", during)
		}
	}
	save("function choose(turn) return 'odd' end\n")
	mine.event("reloaded")
	other.resume <- struct{}{}
	other.round(t, 3)
	other.resume <- struct{}{}
	other.round(t, 4)
	s.until("troubles", `Mine(?s:.*)mine\.lua:2: choose: not ready`)
	s.until("table", `edited in round 3: version 2 \([0-9a-f]{8}\)`)
	other.resume <- struct{}{}
	s.until("stage", "Podium")
	if strings.Contains(s.all.String(), "do not say who is asked") {
		t.Error("the page says that the referee tells nothing")
	}
	lead.event("league_completed")
}

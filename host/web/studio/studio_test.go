package studio_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/web/studio"
)

// hostile are texts that a page could take for something else.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `</textarea><script>alert(3)</script>`, strings.Repeat("long", 2500), "\xff"}

// desk is a lab that holds one script in memory. What it plays is up to its functions.
type desk struct {
	mu   sync.Mutex
	text studio.Text
	try  func(context.Context, studio.Trial, studio.Progress) (studio.Outcome, error)
	said []string
}

func newDesk() *desk {
	return &desk{text: studio.Text{File: "mine.lua", Source: "\nfunction choose(turn) return 'odd' end", Version: "1"}}
}

func (d *desk) Scripts(context.Context) ([]studio.Script, error) {
	list := []studio.Script{{File: d.text.File, Size: "7 bytes"}, {File: "other.wasm", Why: "compiled"}}
	for _, name := range hostile {
		list = append(list, studio.Script{File: name, Why: name})
	}
	return list, nil
}

func (d *desk) Field(context.Context) ([]studio.Opponent, error) {
	return []studio.Opponent{{Name: "random", Chosen: true}, {Name: "hedge", About: hostile[0]}}, nil
}

func (d *desk) Open(_ context.Context, file string) (studio.Text, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if file != d.text.File {
		return studio.Text{}, fmt.Errorf("no script %q", file)
	}
	return d.text, nil
}

func (d *desk) New(ctx context.Context, file string) (studio.Text, error) {
	d.mu.Lock()
	d.text = studio.Text{File: file, Source: "new", Version: "1"}
	d.mu.Unlock()
	return d.Open(ctx, file)
}

func (d *desk) Save(_ context.Context, draft studio.Draft, version string) (studio.Text, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if version != d.text.Version {
		return studio.Text{}, studio.ErrConflict
	}
	d.text = studio.Text{File: draft.File, Source: draft.Source, Version: version + "x"}
	return d.text, nil
}

func (d *desk) Check(_ context.Context, draft studio.Draft, _ studio.Progress) (studio.Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, draft.Source)
	v := studio.Verdict{Sentence: "Not ready."}
	for i, text := range append(slices.Clone(hostile), d.said...) {
		v.Findings = append(v.Findings, studio.Finding{Level: "error", What: text, Hint: text, Line: i + 1})
	}
	return v, nil
}

func (d *desk) Try(ctx context.Context, t studio.Trial, p studio.Progress) (studio.Outcome, error) {
	if d.try != nil {
		return d.try(ctx, t, p)
	}
	o := studio.Outcome{Title: fmt.Sprintf("%d leagues against %v, before %q", t.Leagues, t.Field, t.Before), Confirms: t.Fresh}
	for _, name := range hostile {
		o.Rows = append(o.Rows, studio.Row{Name: name, Known: true})
		o.Rivals = append(o.Rivals, studio.Rival{Name: name})
	}
	return o, nil
}

func (d *desk) League(_ context.Context, t studio.Trial, league int, against string) (studio.League, error) {
	return studio.League{Title: fmt.Sprintf("League %d against %s", league, against), Steps: []studio.Step{{Match: "R1M1", Opponent: hostile[0], Now: &studio.Side{Mine: "odd", Said: hostile}}}}, nil
}

// serve serves a studio on a socket.
func serve(t *testing.T, teams ...studio.Team) string {
	t.Helper()
	s := httptest.NewServer(studio.New(studio.Config{Teams: teams, MaxSource: 1000}))
	t.Cleanup(s.Close)
	return s.URL
}

// call calls an action and returns the status and the last line.
func call(t *testing.T, at, action, token string, in map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/api/"+action, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var last map[string]any
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		last = nil
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
	}
	return resp.StatusCode, last
}

// The page is complete and works as a form; whatever it shows is text.
func TestFormWithoutJavaScript(t *testing.T) {
	t.Parallel()
	d := newDesk()
	at := serve(t, studio.Team{Lab: d})
	read := func(resp *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		policy := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "form-action 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %q", policy)
		}
		for _, bad := range []string{"<script>", "<img", "</textarea><", "style=", "onerror=alert(2)>"} {
			if strings.Contains(strings.ReplaceAll(string(text), `onerror=alert(2)&gt;`, ""), bad) {
				t.Errorf("the page has %s:\n%.3000s", bad, text)
			}
		}
		return resp.StatusCode, string(text)
	}
	_, page := read(http.Get(at + "/"))
	for _, want := range []string{"mine.lua", "other.wasm", "<textarea", "\n\nfunction choose(turn) return &#39;odd&#39; end</textarea>", `value="1"`, html.EscapeString(hostile[0]), hostile[3]} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	form := url.Values{"file": {"mine.lua"}, "version": {"1"}, "source": {"a\r\nb </textarea><script>"}}
	for _, step := range []struct {
		change url.Values
		status int
		wants  []string
	}{
		{url.Values{"action": {"check"}}, 200, []string{"Not ready.", "a\nb &lt;/textarea&gt;", "not saved"}},
		{url.Values{"action": {"save"}}, 200, []string{"Saved mine.lua.", `value="1x"`}},
		{url.Values{"source": {"mine"}}, 409, []string{"mine</textarea>", `name="version" value="1"`}},
		{url.Values{"action": {"try"}, "field": {"hedge"}, "leagues": {"100"}, "compare": {"yes"}}, 200,
			[]string{"100 leagues against [hedge], before &#34;a\\nb &lt;/textarea", `value="hedge" checked`, `value="random"> `}},
		{url.Values{"action": {"league"}, "league": {"7"}}, 200, []string{"League 7 against ", "R1M1"}},
		{url.Values{"action": {"new"}, "file": {"x"}, "ending": {".js"}}, 200, []string{"Wrote x.js."}},
		{url.Values{"action": {"dance"}}, 422, []string{"unknown action"}},
	} {
		maps.Copy(form, step.change)
		status, page := read(http.PostForm(at+"/do", form))
		for _, want := range step.wants {
			if status != step.status || !strings.Contains(page, want) {
				t.Errorf("%v: status %d; the page lacks %s:\n%.3000s", step.change, status, want, page)
			}
		}
	}
}

func TestAnswersAreText(t *testing.T) {
	t.Parallel()
	at := serve(t, studio.Team{Lab: newDesk()})
	for action, want := range map[string]string{"check": "line 1", "try": "leagues against", "confirm": "leagues against", "league": "League", "app": "textarea", "open": "", "save": ""} {
		status, got := call(t, at, action, "", map[string]any{"file": "mine.lua", "source": "x", "version": "1"})
		shown := fmt.Sprint(got["html"], got["list"])
		if status != 200 || !strings.Contains(shown, want) {
			t.Errorf("%s: %d %v", action, status, got)
		}
		if strings.Contains(shown, "<script") || strings.Contains(shown, "<img") {
			t.Errorf("%s answers with code: %s", action, shown)
		}
	}
	if status, got := call(t, at, "check", "", map[string]any{"file": "mine.lua", "source": strings.Repeat("x", 1001)}); status != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(got["error"]), "1001 bytes") {
		t.Errorf("a long script: %d %v", status, got)
	}
	for _, body := range []string{`{"file":"mine.lua","file":"other.lua"}`, `{"file":"mine.lua"} {}`, "{\"file\":\"mine.lua\",\"source\":\"\xff\"}", `{"file":"mine.lua"`} {
		resp, err := http.Post(at+"/api/check", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: status %d", body, resp.StatusCode)
		}
	}
	if status, got := call(t, at, "check", "", map[string]any{"source": strings.Repeat("\n", 10000)}); status != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(got["error"]), "too large") {
		t.Errorf("a long request: %d %v", status, got)
	}
}

// Each team sees its folder with its token, and learns of other versions of a file;
// without a token it sees nothing.
func TestTeams(t *testing.T) {
	t.Parallel()
	red, blue := newDesk(), newDesk()
	blue.text.Source = "blue"
	at := serve(t, studio.Team{Name: hostile[0], Token: "token-of-the-red", Lab: red}, studio.Team{Name: "Blue", Token: "token-of-the-blue", Lab: blue})
	for _, token := range []string{"", "wrong", "token-of-the-re", "TOKEN-OF-THE-RED"} {
		for _, action := range []string{"app", "open", "save", "new", "check", "try", "league", "look", "nothing"} {
			if status, got := call(t, at, action, token, map[string]any{"file": "mine.lua"}); status != http.StatusUnauthorized || got["html"] != nil || got["text"] != nil {
				t.Errorf("%s with token %q: status %d, %.300v", action, token, status, got)
			}
		}
	}
	for token, want := range map[string]string{"token-of-the-red": "odd", "token-of-the-blue": "blue"} {
		_, got := call(t, at, "open", token, map[string]any{"file": "mine.lua"})
		if text, _ := got["text"].(map[string]any); !strings.Contains(fmt.Sprint(text["source"]), want) {
			t.Errorf("%s opened %v", token, got)
		}
		for version, known := range map[string]bool{"0": false, "1": true} {
			if status, got := call(t, at, "look", token, map[string]any{"file": "mine.lua", "version": version}); status != 200 || (len(got) == 0) != known || !known && !strings.Contains(fmt.Sprint(got["text"]), want) {
				t.Errorf("%s, who has version %s: %d %v", token, version, status, got)
			}
		}
		if status, got := call(t, at, "look", token, map[string]any{"file": "gone.lua"}); status != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(got["error"]), "no script") {
			t.Errorf("a file that is gone: %d %v", status, got)
		}
	}
	resp, err := http.Get(at + "/?file=mine.lua")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || strings.Contains(string(text), "choose") || strings.Contains(string(text), "mine.lua") {
		t.Errorf("without a token the page shows %s, %v", text, err)
	}
	resp, err = http.PostForm(at+"/do", url.Values{"file": {"mine.lua"}, "action": {"save"}, "source": {"x"}, "version": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized || red.text.Version != "1" {
		t.Errorf("a form without a token: status %d, version %s", resp.StatusCode, red.text.Version)
	}
}

// A newer try of a tab ends the older one, whose answer says so; tries of other tabs
// and teams go on. One whose page is gone ends, too.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	started, ended := make(chan string, 10), make(chan error, 10)
	d := newDesk()
	release := make(chan struct{})
	d.try = func(ctx context.Context, trial studio.Trial, p studio.Progress) (studio.Outcome, error) {
		p(1, 2, "one of two")
		started <- trial.Source
		if trial.Source == "quick" {
			return studio.Outcome{Title: "done"}, nil
		}
		wait := release
		if trial.Source == "left" {
			wait = nil
		}
		select {
		case <-ctx.Done():
			ended <- context.Cause(ctx)
			return studio.Outcome{}, ctx.Err()
		case <-wait:
			return studio.Outcome{Title: "released"}, nil
		}
	}
	at := serve(t, studio.Team{Lab: d})
	answers := make(chan map[string]any, 3)
	begin := func(tab, source string) {
		t.Helper()
		go func() {
			_, got := call(t, at, "try", "", map[string]any{"tab": tab, "source": source})
			answers <- got
		}()
		<-started
	}
	begin("a", "first")
	begin("b", "of another tab")
	_, got := call(t, at, "confirm", "", map[string]any{"tab": "a", "source": "quick"})
	if got["message"] != "done" {
		t.Errorf("the newer one: %v", got)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "superseded") {
		t.Errorf("the older one ended with %v", err)
	}
	if got := <-answers; !strings.Contains(fmt.Sprint(got["error"]), "superseded") {
		t.Errorf("the older one answered %v", got)
	}
	close(release)
	if got := <-answers; got["message"] != "released" {
		t.Errorf("that of the other tab answered %v", got)
	}
	<-started // of quick
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/api/try", strings.NewReader(`{"source":"left"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req) // progress has begun the answer
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the try of a page that is gone ended with %v", err)
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestStdioAnswersAsHTTPDoes asks one process the same on both ways to it.
func TestStdioAnswersAsHTTPDoes(t *testing.T) {
	t.Parallel()
	cmd := commandLine(t.Context(), t.TempDir(), "player", "--strategy", "always-even", "--stdio", "--format", "json",
		"--listen", "127.0.0.1:0", "--manager", "http://127.0.0.1:1/mcp")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var listening struct{ URL string }
	events := bufio.NewReader(stderr)
	if line, err := events.ReadBytes('\n'); err != nil || json.Unmarshal(line, &listening) != nil || listening.URL == "" {
		t.Fatalf("%s, %v", line, err)
	}
	answers, chosen := bufio.NewReader(stdout), false
	clock := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	const header = `"protocol":"league.v2","sender":"referee:REF01","timestamp":"2026-01-01T12:00:00Z","conversation_id":"c","auth_token":"k",` +
		`"league_id":"cup","round_id":1,"match_id":"R1M1","game_type":"even_odd"`
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":"1","method":"handle_game_invitation","params":{"message_type":"GAME_INVITATION",` + header + `,"role_in_match":"PLAYER_A","opponent_id":"P02"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"parity_choose","params":{"message_type":"CHOOSE_PARITY_CALL",` + header + `,"context":{"opponent_id":"P02"},"deadline":"2026-01-01T12:00:30Z"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"parity_choose","params":{"message_type":"CHOOSE_PARITY_CALL",` + strings.Replace(header, `"k"`, `"stranger"`, 1) + `,"player_id":"P01"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"handle_game_invitation","params":{"message_type":"GAME_INVITATION"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"handle_game_invitation","arguments":{"message_type":"GAME_INVITATION",` + header + `}}}`,
		`{"jsonrpc":"1.0","id":6,"method":"parity_choose"}`,
		`{"jsonrpc":"2.0","id":7,"id":8,"method":"parity_choose"}`,
		`{"message_type":"GAME_INVITATION",` + header + `}`,
		`nonsense`,
	} {
		if _, err := io.WriteString(stdin, message+"\n"); err != nil {
			t.Fatal(err)
		}
		piped, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(listening.URL, "application/json", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		posted, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		chosen = chosen || bytes.Contains(piped, []byte(`"parity_choice":"even"`))
		got, want := clock.ReplaceAll(bytes.TrimSpace(piped), nil), clock.ReplaceAll(posted, nil)
		if len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s:\n on stdout %s\nover HTTP %s", message, piped, posted)
		}
	}
	if !chosen {
		t.Error("no choice among the answers on stdout")
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(answers)
	if err != nil || len(rest) > 0 {
		t.Errorf("%v, and on stdout remains %q", err, rest)
	}
	if _, err := io.ReadAll(events); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end of the input ends the agent with %v", err)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// wildPlayer starts a player that sends nothing but what a message cannot do
// without, until the end of the script: wildplayer NAME URL FILE [header]. It
// registers, as soon as the manager is there, and writes the answer to a file.
// With "header" its registration is by the book, and its answers are not.
func wildPlayer(ts *testscript.TestScript, _ bool, args []string) {
	srv := httptest.NewServer(http.HandlerFunc(answerWildly))
	ts.Defer(srv.Close)
	meta := map[string]any{"display_name": args[0], "contact_endpoint": srv.URL + "/mcp"}
	message := map[string]any{"message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": meta}
	if len(args) > 3 {
		meta["version"], meta["game_types"] = "1.0.0", []string{"even_odd"}
		message["protocol"], message["sender"] = "league.v2", "player:"+args[0]
		message["timestamp"], message["conversation_id"] = "2026-01-01T12:00:00Z", "conv-"+args[0]
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message})
	ts.Check(err)
	_, answer := postUntilThere(ts, args[1], "application/json", string(body), nil)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(answer), 0o600))
}

func answerWildly(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     any
		Params struct {
			Type string `json:"message_type"`
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // what cannot be read has no type
	result := map[string]any{"status": "ok"}
	switch in.Params.Type {
	case "GAME_INVITATION":
		result = map[string]any{"accept": true}
	case "CHOOSE_PARITY_CALL":
		result = map[string]any{"choice": "even"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": in.ID, "result": result})
}

// posting posts a text and writes status and answer to a file: posting FILE URL
// BODY [HEADER=VALUE...]. The Content-Type is JSON unless that is said
// otherwise. It waits until somebody listens there.
func posting(ts *testscript.TestScript, _ bool, args []string) {
	header, media := http.Header{}, "application/json"
	for _, h := range args[3:] {
		name, value, _ := strings.Cut(h, "=")
		if name == "Content-Type" {
			media = value
			continue
		}
		header.Set(name, value)
	}
	status, answer := postUntilThere(ts, args[1], media, args[2], header)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fmt.Appendf(nil, "HTTP %d\n%s\n", status, answer), 0o600))
}

// postUntilThere posts a body as soon as somebody listens.
func postUntilThere(ts *testscript.TestScript, url, media, body string, header http.Header) (int, string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
		ts.Check(err)
		if header != nil {
			req.Header = header.Clone()
		}
		if media != "" {
			req.Header.Set("Content-Type", media)
		}
		res, err := http.DefaultClient.Do(req)
		if errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(deadline) {
			continue
		}
		ts.Check(err)
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		ts.Check(err)
		return res.StatusCode, string(answer)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// wildPlayer starts a player that sends nothing but what a message cannot do
// without, until the end of the script: wildplayer NAME URL FILE [header]. It
// registers, and writes the answer to a file.
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
	_, answer := postText(ts, args[1], string(body), http.Header{"Content-Type": {"application/json"}})
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
// otherwise.
func posting(ts *testscript.TestScript, _ bool, args []string) {
	header := http.Header{"Content-Type": {"application/json"}}
	for _, h := range args[3:] {
		name, value, _ := strings.Cut(h, "=")
		header.Set(name, value)
		if value == "" {
			header.Del(name)
		}
	}
	status, answer := postText(ts, args[1], args[2], header)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fmt.Appendf(nil, "HTTP %d\n%s\n", status, answer), 0o600))
}

func postText(ts *testscript.TestScript, url, body string, header http.Header) (int, string) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	ts.Check(err)
	req.Header, req.Host = header, header.Get("Host")
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	ts.Check(err)
	return res.StatusCode, string(answer)
}

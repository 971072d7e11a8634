package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hosting starts a live command on a port that is free, as serving does, and
// keeps what it prints: hosting FILE COMMAND ARG... The file is there when the
// command has ended.
func hosting(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	if _, err := os.Stat(file); err == nil {
		ts.Fatalf("there is a %s already", args[0])
	}
	part, err := os.Create(file + ".part")
	ts.Check(err)
	cmd := &exec.Cmd{Path: os.Args[0], Args: append([]string{"strategylab"}, args[1:]...), Dir: ts.MkAbs("."), Stderr: part}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Check(os.WriteFile(file+".pid", []byte(strconv.Itoa(cmd.Process.Pid)), 0o600))
	done := make(chan struct{})
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	listening := make(chan string, 1)
	go func() {
		defer close(done)
		defer close(listening)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(part, lines.Text())
			if at := listens(lines.Text()); at != "" && len(listening) == 0 {
				select {
				case listening <- at:
				default:
				}
			}
		}
		_ = cmd.Wait() // the output says it
		_ = part.Close()
		_ = os.Rename(part.Name(), file)
	}()
	at := <-listening
	if at == "" {
		<-done
		ts.Fatalf("%q does not listen: %s", args[1:], ts.ReadFile(args[0]))
	}
	setURL(ts, at)
}

// ended waits for the end of what hosting has started, or brings it about by an
// interrupt: ended FILE [interrupt].
func ended(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	if len(args) > 1 {
		pid, err := strconv.Atoi(ts.ReadFile(args[0] + ".pid"))
		ts.Check(err)
		process, err := os.FindProcess(pid)
		ts.Check(err)
		ts.Check(process.Signal(os.Interrupt))
	}
	there := comes(time.After(hostPatience), func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	if !there {
		text, _ := os.ReadFile(file + ".part") // it is the failure that counts
		ts.Fatalf("it does not end: %s", text)
	}
}

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
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	ts.Check(err)
	return res.StatusCode, string(answer)
}

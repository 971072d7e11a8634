package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// The admin token is shown once, on stderr. With --data-dir it outlives the host,
// and with --stay the host answers after the league.
func TestAdminTokenAndStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	brief := start(t, dir, "host", "--listen", "127.0.0.1:0", "--field", "random*2", "--legs", "1")
	url := brief.event("listening")["manager"].(string)
	token := brief.err.until("admin-[0-9a-f]{32}")[0]
	run1(t, dir, exitOK, "start", "--manager", url, "--admin-token", token)
	brief.ends(exitOK)
	if n := strings.Count(brief.err.String(), token); n != 1 {
		t.Errorf("it has shown the token %d times", n)
	}

	args := []string{"host", "--listen", "127.0.0.1:0", "--field", "random*2", "--legs", "20", "--data-dir", "data", "--stay"}
	host := start(t, dir, append(slices.Clone(args), "--pace", "1s")...) // so it plays for long if it is not killed
	file := filepath.Join("data", "data", "leagues", "league_2025_even_odd", "admin-token")
	run1(t, dir, exitOK, "start", "--manager", host.event("listening")["manager"].(string), "--admin-token-file", file)
	host.event("round_completed")
	host.kill()
	if info, err := os.Stat(filepath.Join(dir, file)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the token: %v, %v", info, err)
	}
	host = start(t, dir, args...)
	url = host.event("listening")["manager"].(string)
	host.event("league_completed")
	if e := host.told("league_resumed"); e == nil || e["round"].(float64) < 2 || e["total_rounds"] != 20.0 {
		t.Errorf("that it resumed is missing or wrong: %v", e)
	}
	run1(t, dir, exitOK, "query", "players", "--manager", url, "--admin-token-file", file)
	if out := run1(t, dir, exitOK, "query", "schedule", "--round", "20", "--manager", url); !strings.Contains(out, "finished") {
		t.Errorf("after the league, the schedule is %s", out)
	}
	if out := run1(t, dir, exitFailure, "query", "schedule", "--round", "21", "--manager", url); !strings.Contains(out, "the league has rounds 1 to 20") {
		t.Errorf("round 21 gives %s", out)
	}
	host.event("draws") // it has summed up
	host.interrupt(exitOK)
	ofOwner(t, filepath.Join(dir, "data"))
}

// Manager, referee and player each run alone, and leave on Ctrl-C.
func TestAgentsAloneAndInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager := start(t, dir, "manager", "--legs", "1", "--listen", "127.0.0.1:0", "--players", "3", "--data-dir", "data")
	url := manager.event("listening")["manager"].(string)
	referee := start(t, dir, "referee", "--manager", url)
	referee.event("registered")
	player := start(t, dir, "player", "--strategy", "random", "--manager", url)
	player.event("registered")
	for _, r := range []struct {
		*process
		want int
	}{{player, exitOK}, {referee, exitOK}, {manager, exitStopped}} {
		r.interrupt(r.want)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "config", "agents", "agents_config.json")); err != nil {
		t.Error(err)
	}
}

// Agents that are started before their manager say that they wait for it, and
// take part as soon as it is there.
func TestAgentsWaitForTheManager(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := jsonrpctest.Address(t)
	early := []*process{
		start(t, dir, "referee", "--manager", "http://"+addr+"/mcp", "--retry-delay", "20ms"),
		start(t, dir, "player", "--strategy", "random", "--manager", "http://"+addr+"/mcp", "--retry-delay", "20ms", "--once"),
	}
	for _, a := range early {
		if e := a.event("waiting"); !strings.Contains(fmt.Sprint(e["error"]), "could not connect") {
			t.Errorf("it waits because of %v", e["error"])
		}
	}
	manager := start(t, dir, "host", "--legs", "1", "--listen", addr, "--field", "role", "--players", "2", "--referees", "0")
	manager.event("league_completed")
	for _, a := range append(early, manager) {
		a.ends(exitOK)
	}
}

// A referee whose manager has died without a word leaves with --idle-exit, and
// says what it has done and whether it still owes a report.
func TestRefereeLeavesADeadLeague(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager := start(t, dir, "manager", "--listen", "127.0.0.1:0", "--players", "2", "--legs", "100", "--pace", "1s")
	url := manager.event("listening")["manager"].(string)
	referee := start(t, dir, "referee", "--manager", url, "--idle-exit", "300ms", "--timeout", "200ms", "--retry-delay", "20ms")
	referee.event("registered")
	for _, name := range []string{"Ada", "Bob"} {
		start(t, dir, "player", "--strategy", "random", "--name", name, "--manager", url).event("registered")
	}
	manager.event("round_completed")
	manager.kill()
	if e := referee.event("deserted"); e["matches"].(float64) < 1 {
		t.Errorf("it leaves with %v", e)
	}
	code, stderr := referee.end(), referee.err.String()
	if owes := strings.Contains(stderr, "has not acknowledged 1 of"); code != exitOK && !owes || code == exitOK && owes {
		t.Errorf("it ended with %d: %s", code, stderr)
	}
}

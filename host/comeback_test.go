package host_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
)

// keeps has all agents of a league keep journals.
func keeps(l *host.League) *host.League {
	l.Referees[0].Data = l.Manager.DataDir
	l.Referees[0].Backoff = game.Backoff{Retries: 14, First: time.Millisecond, Most: time.Minute} // until the players are back
	for i := range l.Seats {
		l.Seats[i].Data = l.Manager.DataDir
	}
	return l
}

// interrupted plays a league of four until its agents are there, or until so many results
// are reported, and returns it as it is started again, with where its agents listened.
func interrupted(t *testing.T, results int) (again *host.League, addrs map[string]string) {
	t.Helper()
	l := keeps(leagueOf(t, 4, 4))
	addrs = make(map[string]string)
	for _, name := range []string{"manager", "REF01", "P01", "P02", "P03", "P04"} {
		addrs[name] = jsonrpctest.Address(t) // which the system gives to nobody else meanwhile
	}
	l.Network.(*host.Sockets).Addrs = func(name string) []string { return []string{addrs[name]} }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if results == 0 {
		l.Manager.Players = 5
		l.Started = func(string, bool) { stop() }
	}
	l.Manager.Events = func(e manager.Event) {
		if e.Kind == manager.MatchReported {
			if results--; results == 0 {
				stop()
			}
		}
	}
	if _, err := l.Play(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again = leagueOf(t, 4, 4)
	again.Manager.DataDir = l.Manager.DataDir
	return keeps(again), addrs
}

// goesOn plays a league to its end, audits it, and returns where its agents listened. The
// process before has begun it, or not.
func goesOn(t *testing.T, l *host.League, begun bool) map[string]string {
	t.Helper()
	l.Started = func(_ string, told bool) {
		if told != begun {
			t.Errorf("that the league has begun: %v, want %v", told, begun)
		}
	}
	net := &watched{Network: l.Network, urls: make(map[string]string)}
	l.Network = net
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	audit(t, l.Manager, played, func(string) bool { return true })
	for name, listens := range net.urls {
		u, _ := url.Parse(listens)
		net.urls[name] = u.Host
	}
	return net.urls
}

// TestComesBackAtOthersAddresses starts a league again where the system gives each agent
// the address that the next one had before.
func TestComesBackAtOthersAddresses(t *testing.T) {
	t.Parallel()
	for name, results := range map[string]int{"before the start": 0, "in the middle": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, addrs := interrupted(t, results)
			next := map[string]string{"manager": "REF01", "REF01": "P01", "P01": "P02", "P02": "P03", "P03": "P04", "P04": "manager"}
			l.Network.(*host.Sockets).Addrs = func(name string) []string { return []string{addrs[next[name]], "127.0.0.1:0"} }
			now := goesOn(t, l, results > 0)
			for name := range next {
				if _, _, err := net.SplitHostPort(now[name]); err != nil || name != "P04" && now[name] == addrs[next[name]] {
					t.Errorf("%s listens at %q, which was the address of %s", name, now[name], next[name])
				}
			}
		})
	}
}

// TestComesBackAtItsOnlyAddress: an agent that may listen at one address only has it, even
// if another one was there before.
func TestComesBackAtItsOnlyAddress(t *testing.T) {
	t.Parallel()
	l, addrs := interrupted(t, 0)
	l.Network.(*host.Sockets).Addrs = func(name string) []string {
		if name == "manager" {
			return []string{addrs["REF01"]}
		}
		return []string{"127.0.0.1:0"}
	}
	if now := goesOn(t, l, false)["manager"]; now != addrs["REF01"] {
		t.Errorf("the manager listens at %s, want %s", now, addrs["REF01"])
	}
}

// TestTokenThatNobodyWroteDown starts a league again whose process ended when the manager
// had written down a player and that player had not: before the start it comes back;
// afterwards nobody knows what it has played, and the organiser is asked.
func TestTokenThatNobodyWroteDown(t *testing.T) {
	t.Parallel()
	for name, results := range map[string]int{"before the start": 0, "in the middle": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := interrupted(t, results)
			if err := os.RemoveAll(filepath.Join(l.Manager.DataDir, "data", "players", "P02")); err != nil {
				t.Fatal(err)
			}
			played, err := l.Play(t.Context())
			switch {
			case results == 0 && err != nil:
				t.Fatal(err)
			case results == 0:
				audit(t, l.Manager, played, func(string) bool { return true })
				if got := played.Players[1].ID(); got != "P02" {
					t.Errorf("the player is %s, want P02", got)
				}
			case err == nil || !strings.Contains(err.Error(), "readmit P02"):
				t.Errorf("error %v, want the advice to readmit P02", err)
			}
		})
	}
}

// A league whose process was killed after its last round, and before everybody
// had received the end, ends when it is restarted, whether or not its own agents
// had received it; and then it is over.
func TestKilledBeforeTheEndWasAnnounced(t *testing.T) {
	t.Parallel()
	l := leagueOf(t, 3, 3)
	l.Referees[0].Data = l.Manager.DataDir
	for i := range l.Seats {
		l.Seats[i].Data = l.Manager.DataDir
	}
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := manager.JournalName(l.Manager.DataDir, l.Manager.LeagueID)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	last := len(lines) - 1
	if !strings.Contains(lines[last], " completed ") {
		t.Fatalf("the journal ends with %q", lines[last])
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines[:last], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var ends int
	l.Manager.Events = func(e manager.Event) {
		if e.Kind == manager.LeagueCompleted {
			ends++
		}
	}
	for _, before := range []bool{false, true} {
		again, err := l.Play(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again.Before != before || !slices.Equal(again.Standings, played.Standings) || ends != 1 {
			t.Errorf("before: %v, %d ends, standings %+v, want %+v", again.Before, ends, again.Standings, played.Standings)
		}
	}
}

package leagues

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
)

func TestMatchLine(t *testing.T) {
	t.Parallel()
	m := league.Match{
		ID: "R1M2", Players: [2]string{"P01", "P02"}, Choices: [2]game.Parity{game.Even, game.NoParity},
		Results: [2]game.Result{game.Win, game.TechnicalLoss}, Points: [2]int{3, 0},
	}
	if got, want := matchLine(m), "R1M2    P01 even  P02 technical loss  no number  3:0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The summary leaves out whom the manager took in the end, and advises tolerance
// only to a strict host.
func TestTroubles(t *testing.T) {
	t.Parallel()
	var all troubles
	if got := all.summary(protocol.Strict, nil); got != "" {
		t.Errorf("without troubles: %q", got)
	}
	all.managed(manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Early", Error: "league full"})
	all.managed(manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Odd", Error: "no version", Tolerant: true})
	all.managed(manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Early"})
	for range 2 {
		all.forfeited(referee.Event{Player: "P01", Fault: "timeout", Error: "no answer within 30s"})
	}
	text := all.summary(protocol.Strict, nil)
	for _, part := range []string{`player "Odd": no version  [accepted with --validation tolerant]`, "P01 Early, in 2 matches: timeout (no answer within 30s)"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
	if strings.Contains(text, "league full") {
		t.Errorf("%q has an agent that registered later", text)
	}
	all.forfeited(referee.Event{Player: "P02", Fault: "connect"})
	text = all.summary(protocol.Strict, []league.Standing{{PlayerID: "P01", TechnicalLosses: 2}, {PlayerID: "P02", DisplayName: "Bob", TechnicalLosses: 4}})
	for _, part := range []string{"P02 Bob, in 1 match: connect\n", "P02 Bob, in 3 matches before this process started"} {
		if !strings.Contains(text, part) {
			t.Errorf("of a resumed league, %q does not contain %q", text, part)
		}
	}
	if strings.Contains(text, "P01 Early, in 2 matches before") {
		t.Errorf("%q counts twice", text)
	}
	const advice = "accepts messages that lack fields"
	if !strings.Contains(text, advice) || strings.Contains(all.summary(protocol.Tolerant, nil), advice) {
		t.Error("the advice does not depend on the mode")
	}
}

func TestPartOf(t *testing.T) {
	t.Parallel()
	rec := &trace.Recording{Exchanges: []*trace.Exchange{
		{Exchange: judge.Exchange{Agent: "REF01", Sent: true, Match: "R1M1"}}, {Exchange: judge.Exchange{Agent: "P01"}},
		{Exchange: judge.Exchange{Agent: "launcher", Sent: true}},
	}}
	if part, err := partOf(rec, "P01"); err != nil || len(part) != 1 || part[0].Agent != "P01" {
		t.Errorf("P01: %v, %v", part, err)
	}
	for agent, want := range map[string]string{"": "2 agents recorded: P01, REF01", "P02": `no recording of "P02"`, "launcher": `no recording of "launcher"`} {
		if _, err := partOf(rec, agent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", agent, err, want)
		}
	}
	if _, err := partOf(&trace.Recording{}, ""); err == nil {
		t.Error("an empty recording has a part")
	}
}

// A failed check counts from its level on, and a rule of level must most.
func TestConformity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failed, from conformance.Level
		want         error
	}{
		{conformance.Must, conformance.Must, command.ErrBreaksMust},
		{conformance.Should, conformance.Must, nil},
		{conformance.Should, conformance.Should, command.ErrBreaksShould},
		{conformance.Wild, conformance.Should, nil},
		{conformance.Wild, conformance.Wild, command.ErrBreaksShould},
	} {
		r := &conformance.Report{Outcomes: []conformance.Outcome{{Level: c.failed, Status: conformance.Failed}}}
		if err := conformity(r, c.from); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s failed, counting from %s: %v, want %v", c.failed, c.from, err, c.want)
		}
	}
}

// Only matches whose choices differ say whether the draw favours a player.
func TestDrawTests(t *testing.T) {
	t.Parallel()
	draws := []judge.Draw{
		{Number: 4, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", "odd"}},
		{Number: 5, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", "even"}},
		{Number: 6, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", ""}},
	}
	tests := drawTests(game.FairDraw(), draws).Tests
	if len(tests) < 3 || tests[0].N != 3 || tests[1].N != 3 {
		t.Fatalf("the numbers are not all tested: %+v", tests)
	}
	for _, favoured := range tests[2:] {
		if favoured.N != 1 {
			t.Errorf("%s: %d contests, want 1", favoured.Question, favoured.N)
		}
	}
}

// On a terminal that shows stdout and stderr, warnings are lines among the events;
// elsewhere they go to stderr.
func TestWarningsAmongEvents(t *testing.T) {
	t.Parallel()
	screen := command.Terminal{Columns: 80, Rows: 24}
	for _, c := range []struct {
		out, err command.Terminal
		json     bool
		among    bool
	}{{screen, screen, false, true}, {screen, screen, true, false}, {screen, command.Terminal{}, false, false}, {command.Terminal{}, screen, false, false}} {
		var stdout, stderr strings.Builder
		p := &command.Process{Stdout: &stdout, Stderr: &stderr, Out: c.out, Err: c.err}
		e := &eventWriter{w: p.Stdout, json: c.json}
		log := e.logger(p, slog.LevelWarn)
		log.Info("not shown")
		log.With("agent", "P03").Warn("agent not reachable", "error", errors.New("connection refused"))
		if c.among {
			if got, want := stdout.String(), "warning: agent not reachable: agent \"P03\", error \"connection refused\"\n"; got != want || stderr.Len() > 0 {
				t.Errorf("the screen has %q and %q, want %q", got, stderr.String(), want)
			}
		} else if stdout.Len() > 0 || !strings.Contains(stderr.String(), "agent not reachable") || strings.Contains(stderr.String(), "not shown") {
			t.Errorf("%+v: stdout %q, stderr %q", c, stdout.String(), stderr.String())
		}
	}
}

// interfaces are those of a machine in two networks.
func interfaces() ([]net.Addr, error) {
	var all []net.Addr
	for _, text := range []string{"127.0.0.1/8", "fd00::5/64", "10.0.7.5/24", "fe80::1/64", "::1/128"} {
		ip, n, err := net.ParseCIDR(text)
		if err != nil {
			return nil, err
		}
		n.IP = ip
		all = append(all, n)
	}
	return all, nil
}

// A host that listens everywhere names the addresses of its interfaces.
func TestReachable(t *testing.T) {
	t.Parallel()
	four, six := command.FarAddress{URL: "http://10.0.7.5:8000/mcp", Network: "10.0.7.0/24"}, command.FarAddress{URL: "http://[fd00::5]:8000/mcp", Network: "fd00::/64"}
	for listen, want := range map[string][]command.FarAddress{"0.0.0.0": {four}, "::": {four, six}, "": {four, six}, "127.0.0.1": nil, "10.0.7.5": nil, "localhost": nil} {
		l := &live{host: listen}
		if got := l.reachable("http://127.0.0.1:8000/mcp", interfaces); !slices.Equal(got, want) {
			t.Errorf("%q is reached at %v, want %v", listen, got, want)
		}
	}
}

// The end of a league shows the record of the manager's table, which also has the
// matches before a crash.
func TestEndAfterACrash(t *testing.T) {
	t.Parallel()
	row := func(id string, played protocol.Opt[int]) protocol.Standing {
		return protocol.Standing{Rank: 1, PlayerID: id, Played: played, Wins: protocol.Some(2), Draws: protocol.Some(1), Losses: protocol.Some(1), Points: 7}
	}
	for name, tt := range map[string]struct {
		table []protocol.Standing
		want  string
	}{
		"no table":        {nil, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"another's row":   {[]protocol.Standing{row("P02", protocol.Some(4))}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"without matches": {[]protocol.Standing{row("P01", protocol.Opt[int]{})}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"late table":      {[]protocol.Standing{row("P01", protocol.Some(1))}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"after a crash": {[]protocol.Standing{row("P01", protocol.Some(4))}, "4 matches: 2 won, 1 tied, 1 lost, 7 points " +
			"(2 of them before this process started, or without it)"},
	} {
		end := player.Event{Kind: player.Completed, Player: "P01", Table: tt.table}
		end.Standing.Add(game.Win, 3)
		end.Standing.Add(game.Loss, 0)
		text := endText(end)
		if first, _, _ := strings.Cut(text, "\n"); first != "the league is complete: "+tt.want {
			t.Errorf("%s: %q", name, first)
		}
	}
}

// The commands that a host prints can be pasted, also with a folder that has spaces.
func TestPrintedCommandsAreQuoted(t *testing.T) {
	t.Parallel()
	a := adminToken{token: "t", file: "my league/admin-token"}
	if got, want := a.argument(), " --admin-token-file 'my league/admin-token'"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// House players of a host that agents of other machines may join give an address that
// reaches them, and the manager allows it.
func TestHouseReached(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		listen, cert string
		allow        []string
		want         string // URL of a house player; empty for its own
		allowed      int
	}{
		"other machines":  {"0.0.0.0", "", []string{"*.example.org"}, "http://10.0.7.5:9001/mcp", 2},
		"their network":   {"::", "", []string{"fd00::/64"}, "http://[fd00::5]:9001/mcp", 2},
		"nobody else":     {"0.0.0.0", "", nil, "", 0},
		"one interface":   {"127.0.0.1", "", []string{"*"}, "", 1},
		"own certificate": {"0.0.0.0", "host.pem", []string{"*"}, "", 1},
	} {
		l, network, cfg := &live{host: tt.listen}, new(host.Sockets), manager.Config{AllowHosts: tt.allow}
		l.server.TLSCert = tt.cert
		l.houseReached(network, &cfg, interfaces)
		got := ""
		if network.Reached != nil {
			got = network.Reached("P01", "http://127.0.0.1:9001/mcp")
			if own := network.Reached("manager", "http://127.0.0.1:8000/mcp"); own != "http://127.0.0.1:8000/mcp" {
				t.Errorf("%s: the manager is at %s", name, own)
			}
		}
		if got != tt.want || len(cfg.AllowHosts) != tt.allowed {
			t.Errorf("%s: reached at %q, allowed %q; want %q", name, got, cfg.AllowHosts, tt.want)
		}
	}
}

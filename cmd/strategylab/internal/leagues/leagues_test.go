package leagues

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/manager"
)

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

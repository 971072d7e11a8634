package leagues

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
)

// noAdminToken lets every program on the host's machine start the league, for
// launchers that know no token.
const noAdminToken = "none"

// adminToken is the token of a host and where its user finds it.
type adminToken struct {
	token string // empty if none is asked for
	file  string // that holds it, as the user names it; empty for none
	fresh bool   // this process has generated it
}

// adminToken returns the token that the flags give, that of the file, or a new one.
// With --data-dir it is kept there, so that it outlives the process.
func (l *live) adminToken(h *hosting) (*adminToken, error) {
	a := &adminToken{token: h.AdminToken, file: h.AdminFile}
	switch {
	case a.token == noAdminToken:
		a.token = ""
		return a, nil
	case a.token != "":
		return a, nil
	case a.file == "" && l.data != "":
		a.file = filepath.Join(h.Data, "data", "leagues", h.LeagueID, "admin-token")
	}
	if a.file != "" {
		token, err := readToken(l.p.Path(a.file))
		if err == nil {
			a.token = token
			return a, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	a.token, a.fresh = "admin-"+hex.EncodeToString(b[:]), true
	if a.file == "" {
		return a, nil
	}
	return a, writeToken(l.p.Path(a.file), a.token)
}

// writeToken makes a file with a token that only its owner reads.
func writeToken(name, token string) error {
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = disk.WriteFile(name, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write admin token: %w", err)
	}
	return nil
}

func readToken(name string) (string, error) {
	text, _, err := disk.ReadFile(name, 1<<12)
	if err != nil {
		return "", fmt.Errorf("read admin token: %s: %w", name, err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("read admin token: %s does not hold one word; delete the file to have the host write a new one", name)
	}
	return token, nil
}

// started prints where the manager listens, how others take part, and the commands that
// ask and, unless an earlier process has begun the league, start. Stdout may be projected,
// so the token goes to stderr.
func (l *live) started(referees int, url string, league *host.League, admin *adminToken, begun bool) {
	l.out.write(map[string]any{"event": "listening", "manager": url}, "the manager listens at "+url)
	reach := l.reachable(url, net.InterfaceAddrs)
	for i, far := range reach {
		if i == 0 {
			url = far.URL
		}
		l.out.say("others reach it at %s", far.URL)
	}
	if len(reach) > 0 && len(league.Manager.AllowHosts) == 0 {
		l.out.say("agents on other machines are refused until the host has --allow-host, such as --allow-host %s", reach[0].Network)
	}
	join := "strategylab player --strategy NAME --manager " + url
	l.invite(url, join, len(reach) > 0)
	l.out.say("players join with:   %s", join)
	if referees == 0 {
		l.out.say("referees join with:  strategylab referee --manager %s", url)
	}
	l.out.say("ask with:            strategylab query standings --manager %s", url)
	if admin.file != "" {
		l.out.say("organise with:       strategylab league withdraw PLAYER --manager %s%s", url, admin.argument())
	}
	start := "strategylab start --manager " + url
	switch n := league.Manager.Players; {
	case begun: // what resumes it says so
	case n > 0:
		l.out.say("the league starts when %d players have registered", n)
	default:
		l.out.say("start the league with:  %s", start+admin.argument())
	}
	if admin.fresh && admin.file == "" {
		fmt.Fprintf(l.p.Stderr, "with the admin token, shown only here:  %s --admin-token %s\n", start, words.ShellWord(admin.token))
	}
}

// argument is how a command gets the token, without the token.
func (a *adminToken) argument() string {
	switch {
	case a.token == "":
		return ""
	case a.file != "":
		return " --admin-token-file " + words.ShellWord(a.file)
	case a.fresh:
		return " --admin-token TOKEN   (stderr has the token)"
	}
	return " --admin-token TOKEN   (the token that you gave)"
}

// reachable returns where other machines reach the host.
func (l *live) reachable(own string, addrs func() ([]net.Addr, error)) []jsonrpc.FarAddress {
	return jsonrpc.Reachable(l.host, own, addrs)
}

// houseReached lets agents of other machines reach the referees and house players of a
// host that listens on all interfaces and allows such agents: they give an address of
// the machine, which the manager then has to allow, instead of one on loopback. Of
// several addresses it takes one that a pattern of --allow-host covers, if there is one.
func (l *live) houseReached(network *host.Sockets, cfg *manager.Config, addrs func() ([]net.Addr, error)) {
	if len(cfg.AllowHosts) == 0 || l.server.TLSCert != "" { // a certificate is for the names in it
		return
	}
	far := l.reachable("http://127.0.0.1:0/", addrs)
	if len(far) == 0 {
		return
	}
	chosen := slices.IndexFunc(far, func(a jsonrpc.FarAddress) bool { return slices.Contains(cfg.AllowHosts, a.Network) })
	u, _ := url.Parse(far[max(0, chosen)].URL) // it was made from an address
	address := u.Hostname()
	cfg.AllowHosts = append(slices.Clip(cfg.AllowHosts), address)
	network.Reached = func(name, own string) string {
		u, err := url.Parse(own)
		if err != nil || name == "manager" { // whose URL is for this machine, too
			return own
		}
		u.Host = net.JoinHostPort(address, u.Port())
		return u.String()
	}
}

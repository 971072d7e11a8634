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
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
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
func (l *live) adminToken(c *cli.Context) (*adminToken, error) {
	a := &adminToken{token: c.String(command.FlagAdminToken), file: c.String(command.FlagAdminFile)}
	switch {
	case a.token != "" && a.file != "":
		return nil, command.Usagef("--%s and --%s exclude each other", command.FlagAdminToken, command.FlagAdminFile)
	case a.token == noAdminToken:
		a.token = ""
		return a, nil
	case a.token != "":
		return a, nil
	case a.file == "" && l.data != "":
		a.file = filepath.Join(c.String(command.FlagData), "data", "leagues", c.String(command.FlagLeagueID), "admin-token")
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
		err = os.WriteFile(name, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write admin token: %w", err)
	}
	return nil
}

// readToken reads a file with a token.
func readToken(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read admin token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("read admin token: %s does not hold one word; delete the file to have the host write a new one", name)
	}
	return token, nil
}

// readAdminToken sets --admin-token to the content of a file.
func readAdminToken(p *command.Process, c *cli.Context, name string) error {
	if c.IsSet(command.FlagAdminToken) {
		return command.Usagef("--%s and --%s exclude each other", command.FlagAdminToken, command.FlagAdminFile)
	}
	token, err := readToken(p.Path(name))
	if err != nil {
		return err
	}
	return c.Set(command.FlagAdminToken, token)
}

// started prints where the manager listens, how others take part, and the commands
// that ask and start. Stdout may be projected, so the token goes to stderr.
func (l *live) started(c *cli.Context, url string, league *host.League, admin *adminToken) {
	l.out.write(map[string]any{"event": "listening", "manager": url}, "the manager listens at "+url)
	reach := l.reachable(url, net.InterfaceAddrs)
	for i, far := range reach {
		if i == 0 {
			url = far.url
		}
		l.out.say("others reach it at %s", far.url)
	}
	if len(reach) > 0 && len(league.Manager.AllowHosts) == 0 {
		l.out.say("agents on other machines are refused until the host has --%s, such as --%s %s", flagAllowHost, flagAllowHost, reach[0].network)
	}
	l.out.say("players join with:   strategylab player --strategy NAME --manager %s", url)
	if c.Int(flagReferees) == 0 {
		l.out.say("referees join with:  strategylab referee --manager %s", url)
	}
	l.out.say("ask with:            strategylab query standings --manager %s", url)
	start := "strategylab start --manager " + url
	if n := league.Manager.Players; n > 0 {
		l.out.say("the league starts when %d players have registered", n)
	} else {
		l.out.say("start the league with:  %s", start+admin.argument())
	}
	if admin.fresh && c.String(command.FlagAdminFile) == "" {
		fmt.Fprintf(l.p.Stderr, "with the admin token, shown only here:  %s --%s %s\n", start, command.FlagAdminToken, admin.token)
	}
}

// argument is how a command gets the token, without the token.
func (a *adminToken) argument() string {
	switch {
	case a.token == "":
		return ""
	case a.file != "":
		return fmt.Sprintf(" --%s %s", command.FlagAdminFile, a.file)
	case a.fresh:
		return fmt.Sprintf(" --%s TOKEN   (stderr has the token)", command.FlagAdminToken)
	}
	return fmt.Sprintf(" --%s TOKEN   (the token that you gave)", command.FlagAdminToken)
}

// farAddress is where other machines reach the host.
type farAddress struct {
	url     string
	network string // of the interface, such as 10.0.7.0/24
}

// reachable returns the addresses of a host that listens on all interfaces, those of
// IPv4 first; none for a host that listens on one.
func (l *live) reachable(own string, addrs func() ([]net.Addr, error)) []farAddress {
	u, err := url.Parse(own)
	if ip := net.ParseIP(l.host); err != nil || l.host != "" && (ip == nil || !ip.IsUnspecified()) {
		return nil
	}
	interfaces, _ := addrs() // without them, only the own address is shown
	var four, six []farAddress
	for _, a := range interfaces {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() {
			continue
		}
		u.Host = net.JoinHostPort(n.IP.String(), u.Port())
		far := farAddress{u.String(), (&net.IPNet{IP: n.IP.Mask(n.Mask), Mask: n.Mask}).String()}
		if n.IP.To4() != nil {
			four = append(four, far)
		} else if l.host != "0.0.0.0" {
			six = append(six, far)
		}
	}
	return append(four, six...)
}

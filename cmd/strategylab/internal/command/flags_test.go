package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// runFlags reads a command line with flags and calls action.
// It is not for parallel tests, since package cli writes global variables.
func runFlags(flags []cli.Flag, args []string, action cli.ActionFunc) error {
	app := &cli.App{
		Name: "strategylab", Writer: io.Discard, ErrWriter: io.Discard, ExitErrHandler: func(*cli.Context, error) {},
		Commands: []*cli.Command{{Name: "play", ArgsUsage: "DIR", Flags: flags, Action: action, HideHelp: true}},
	}
	return app.Run(append([]string{"strategylab", "play"}, args...))
}

// everything has the flags that several commands have.
type everything struct {
	Globals
	Seeding
	Drawing
	Leveled
	Managed
	Served
	ClusterAccess
	ValidationLog
	Isolation
	Agents
	Workers int           `flag:"workers" want:"1.."`
	Format  string        `flag:"format table|json" want:"one"`
	League  string        `flag:"league-id ID" want:"league"`
	ID      string        `flag:"id ID" want:"agent"`
	Timeout time.Duration `flag:"timeout" want:"positive"`
}

// Every flag refuses wrong values as a mistake in the command line, which names the flag,
// quotes the value and says what it takes.
func TestFlagsAreWrong(t *testing.T) {
	p := &Process{Lab: lab.Lab{Entropy: func() (uint64, error) { return 1, nil }}}
	read := func(c *cli.Context, o *everything) error {
		_, seed := o.Seed(p)
		_, callers := o.Callers()
		_, reach := o.Config(p, c, "nats://host:4222")
		return errors.Join(Refuse(c), seed, callers, reach)
	}
	const id = "want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit"
	for line, want := range map[string]string{
		"--seed 0x10 --draw weights:1=3,2=1 --level 0.99 --workers 1 --format json --timeout 1ms --id P\u00e4 --league-id l.1": "",
		"--seed -1":                     `--seed is "-1", want an integer from 0 to 2^64-1`,
		"--seed 18446744073709551616":   `--seed is "18446744073709551616", want an integer from 0 to 2^64-1`,
		"--seed 1.5":                    `--seed is "1.5", want an integer from 0 to 2^64-1`,
		"--draw dice":                   `--draw: draw "dice": want uniform:FIRST-LAST or weights:NUMBER=WEIGHT,NUMBER=WEIGHT`,
		"--draw uniform:6":              `--draw: draw "uniform:6": want uniform:FIRST-LAST, for example uniform:1-10`,
		"--draw weights:1=1,1=2":        `--draw: draw "weights:1=1,1=2": number 1 stands twice`,
		"--level 0.49":                  "--level is 0.49, want 0.5 to 0.9999",
		"--level 1":                     "--level is 1, want 0.5 to 0.9999",
		"--level NaN":                   "--level is NaN, want 0.5 to 0.9999",
		"--workers 0":                   "--workers is 0, want at least 1",
		"--format csv":                  `--format is "csv", want one of table, json`,
		"--color red":                   `--color is "red", want one of auto, always, never`,
		"--time-limit 999us":            "--time-limit is 999µs, want 1ms to 1h",
		"--time-limit 61m":              "--time-limit is 1h1m0s, want 1ms to 1h",
		"--instructions 999":            "--instructions is 999, want at least 1000",
		"--timeout 0":                   "--timeout is 0s, want a positive duration",
		"--league-id .hidden":           `--league-id is ".hidden", ` + id,
		"--league-id a/b":               `--league-id is "a/b", ` + id,
		"--id a\x07":                    `--id is "a\a", want at most 128 characters, no control characters`,
		"--manager localhost:8000":      `--manager is "localhost:8000", want a URL such as http://127.0.0.1:8000/mcp`,
		"--manager ftp://host/mcp":      `--manager is "ftp://host/mcp", want a URL such as http://127.0.0.1:8000/mcp`,
		"--manager http:///mcp":         `--manager is "http:///mcp", want a URL such as http://127.0.0.1:8000/mcp`,
		"--tls-cert c.pem":              "--tls-cert and --tls-key need each other",
		"--tls-key k.pem":               "--tls-cert and --tls-key need each other",
		"--cluster-key k.pem":           "--cluster-cert and --cluster-key need each other",
		"--offline":                     "--offline needs --cassette DIR, where the answers are",
		"--isolate --in-process":        "--in-process and --isolate exclude each other",
		"--validation-log yes":          `--validation-log is "yes", want one of auto, on, off`,
		"--validation-log-size 0":       "--validation-log-size is 0, want at least 1",
		"--allow-host * --allow-host x": "",
	} {
		o := new(everything)
		err := runFlags(flagsOf(reflect.ValueOf(o).Elem()), strings.Fields(line), func(c *cli.Context) error { return read(c, o) })
		if want == "" && err == nil {
			continue
		}
		var input *lab.InputError
		if err == nil || err.Error() != want || !errors.As(err, &input) {
			t.Errorf("%q:\n got  %v\n want %s", line, err, want)
		}
	}
	for url, want := range map[string]string{
		"host:4222": `--cluster is "host:4222", want a URL such as nats://TOKEN@HOST:4222`, "": `--cluster is "", want a URL such as nats://TOKEN@HOST:4222`,
	} {
		err := runFlags(nil, nil, func(c *cli.Context) error { _, err := new(ClusterAccess).Config(new(Process), c, url); return err })
		if err == nil || err.Error() != want {
			t.Errorf("broker %q: %v, want %s", url, err, want)
		}
	}
}

// A command refuses arguments that are missing or that it does not take, with its usage.
func TestArguments(t *testing.T) {
	const usage = "; usage: strategylab play DIR"
	for _, tc := range []struct{ names, args, want string }{
		{"", "", ""}, {"DIR", "run", ""}, {"DIR ...", "run", ""}, {"DIR ...", "run b c", ""}, {"...", "", ""},
		{"", "run", `play: unexpected argument "run"` + usage},
		{"DIR", "", "play: DIR is missing" + usage},
		{"DIR DIR", "run", "play: DIR is missing" + usage},
		{"DIR", "run b c", `play: unexpected argument "b"` + usage},
		{"DIR ...", "", "play: DIR is missing" + usage},
	} {
		called := false
		err := runFlags(nil, strings.Fields(tc.args), Action(nil, func(*Process, *cli.Context) error { called = true; return nil }, strings.Fields(tc.names)...))
		if got := hinted(err); got != tc.want || called != (tc.want == "") {
			t.Errorf("arguments %q of %q: %q (called: %v), want %q", tc.args, tc.names, got, called, tc.want)
		}
	}
}

// hinted returns an error with its hint.
func hinted(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimSuffix(err.Error()+"; "+HintOf(err), "; ")
}

// What to do about errors of commands that talk to agents. A hint that is there already
// stays.
func TestRemedies(t *testing.T) {
	reason := errors.New("reason")
	refused := func(code protocol.Code, data string) error {
		return &dialect.Refusal{Code: code, Data: []byte(data)}
	}
	const address = "--listen needs an address of this machine, such as 127.0.0.1:8000, or 0.0.0.0:8000 for all of them"
	const other = "the server at http://m/mcp is not a league manager; the manager prints its URL when it starts, usually ending in /mcp"
	const token = "pass the token that the host printed as --admin-token, or its file, which the host names, as --admin-token-file"
	for name, tc := range map[string]struct {
		err  error
		hint string
	}{
		"nothing":           {nil, ""},
		"unknown":           {reason, ""},
		"hinted":            {WithHint(jsonrpc.ErrConnect, "wait"), "wait"},
		"advised":           {Advise(jsonrpc.ErrConnect, "wait"), "wait"},
		"turned away":       {agent.ErrRejected, "strategylab query status --manager http://m/mcp shows how far the league is"},
		"nobody":            {jsonrpc.ErrConnect, "check that the host is running; strategylab host starts one"},
		"data in use":       {disk.ErrLocked, "stop that process or wait until it ends, or choose another folder with --data-dir or --out"},
		"port in use":       {syscall.EADDRINUSE, "another program uses this port, perhaps another host: stop it, or choose another --listen; port 0 picks a free one"},
		"other status":      {jsonrpc.ErrStatus, other},
		"other words":       {jsonrpc.ErrMalformed, other},
		"no token":          {refused(protocol.CodeTokenMissing, ""), token},
		"wrong token":       {refused(protocol.CodeTokenInvalid, ""), token},
		"name taken":        {refused(protocol.CodeDuplicateName, `{"suggestion":"Team 2"}`), `choose another name: --name "Team 2"`},
		"name taken, alone": {refused(protocol.CodeDuplicateName, "{"), `choose another name: --name "Team 7"`},
		"another league":    {refused(protocol.CodeLeagueNotFound, ""), "name the league of this manager with --league-id"},
		"foreign address":   {syscall.EADDRNOTAVAIL, address},
		"unknown name":      {&net.DNSError{Name: "nowhere"}, address},
		"forbidden":         {fs.ErrPermission, "this user may not write or read there: choose a folder of your own, or change its permissions"},
	} {
		err := tc.err
		if err != nil {
			err = fmt.Errorf("play: %w", err)
		}
		got := Remedy("http://m/mcp", err)
		if HintOf(got) != tc.hint || !errors.Is(got, tc.err) || got != nil && got.Error() != err.Error() {
			t.Errorf("%s: %v with hint\n got  %s\n want %s", name, got, HintOf(got), tc.hint)
		}
	}
	far := fmt.Errorf("join: %w", &cluster.RefusedError{URL: "nats://h", Hint: "start one", Err: reason})
	if got := hinted(ClusterError(far)); got != "join: connect to broker nats://h: reason; start one" {
		t.Errorf("a broker that refuses: %s", got)
	}
	if got := ClusterError(reason); got != reason {
		t.Errorf("another error: %v", got)
	}
	if err := Reported(ErrStopped); !IsReported(fmt.Errorf("play: %w", err)) || !errors.Is(err, ErrStopped) || IsReported(ErrStopped) {
		t.Errorf("an explained error: %v", err)
	}
}

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// listening is where a command says that it listens, in a line of text or of JSON. Other
// lines may hold other addresses.
var listening = regexp.MustCompile(`(?:listen(?:s|ing) at |"event":"listening".*)(https?://[0-9.]+:[0-9]+/mcp)`)

// listens returns the address at which a command says that it listens; empty for other lines.
func listens(line string) string {
	if found := listening.FindStringSubmatch(line); found != nil {
		return found[1]
	}
	return ""
}

// serving starts a command that listens, until the end of the script, and sets
// URL and ADDR when it says where: serving COMMAND ARG...
func serving(ts *testscript.TestScript, _ bool, args []string) {
	cmd := &exec.Cmd{Path: os.Args[0], Args: append([]string{"strategylab"}, args...), Dir: ts.MkAbs(".")}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at := listens(lines.Text()); at != "" {
			setURL(ts, at)
			go io.Copy(io.Discard, out) // ends with the process
			return
		}
	}
	ts.Fatalf("%q does not listen", args)
}

// foreign starts a server that is no league manager, and sets URL and ADDR.
func foreign(ts *testscript.TestScript, _ bool, _ []string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>a home page</html>")
	}))
	ts.Defer(srv.Close)
	setURL(ts, srv.URL+"/mcp")
}

func setURL(ts *testscript.TestScript, text string) {
	u, err := url.Parse(text)
	ts.Check(err)
	ts.Setenv("URL", text)
	ts.Setenv("ADDR", strings.ToLower(u.Host))
}

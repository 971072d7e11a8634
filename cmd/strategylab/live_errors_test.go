package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

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

package jsonrpc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "": false, "0.0.0.0": false, "10.0.7.3": false, "localhost.example.org": false} {
		if got := jsonrpc.IsLoopback(host); got != want {
			t.Errorf("only this machine reaches %q: %v, want %v", host, got, want)
		}
	}
}

func TestWhichRequestsAreOfThisMachine(t *testing.T) {
	t.Parallel()
	const media = "application/json"
	for what, c := range map[string]struct {
		remote, host string
		header       http.Header
		want         bool
	}{
		"IPv4":            {"127.0.0.1:4711", "127.0.0.1:8000", http.Header{"Content-Type": {media}}, true},
		"IPv6":            {"[::1]:4711", "[::1]:8000", http.Header{"Content-Type": {media + "; charset=utf-8"}}, true},
		"a name":          {"127.0.0.1:4711", "localhost:8000", http.Header{"Content-Type": {media}}, true},
		"a bare host":     {"127.0.0.1:4711", "localhost", http.Header{"Content-Type": {media}}, true},
		"a rebound name":  {"127.0.0.1:4711", "evil.example:8000", http.Header{"Content-Type": {media}}, false},
		"another machine": {"192.168.7.20:4711", "localhost:8000", http.Header{"Content-Type": {media}}, false},
		"a form":          {"127.0.0.1:4711", "localhost:8000", http.Header{"Content-Type": {"text/plain"}}, false},
		"no media type":   {"127.0.0.1:4711", "localhost:8000", nil, false},
		"a page":          {"127.0.0.1:4711", "localhost:8000", http.Header{"Content-Type": {media}, "Origin": {"http://localhost:8000"}}, false},
		"a proxy":         {"127.0.0.1:4711", "localhost:8000", http.Header{"Content-Type": {media}, "Via": {"1.1 proxy"}}, false},
	} {
		r := jsonrpc.Request{Transport: jsonrpc.TransportHTTP, RemoteAddr: c.remote, Host: c.host, Header: c.header}
		if r.Local() != c.want {
			t.Errorf("%s: local is %v, want %v", what, !c.want, c.want)
		}
	}
}

// What counts as the address of a caller: of IPv6 the network, and of this machine nothing.
func TestNetworksOfRequests(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"10.0.0.7:5000": "10.0.0.7", "[::ffff:10.0.0.7]:5002": "10.0.0.7", "[2001:db8::1]:5000": "2001:db8::/64", "[2001:db8:0:1::3]:5000": "2001:db8:0:1::/64",
		"127.0.0.1:5000": "", "[::1]:5000": "", "stdio": "",
	} {
		if got := (&jsonrpc.Request{RemoteAddr: from}).Network(); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}

func TestHostPatterns(t *testing.T) {
	t.Parallel()
	patterns := []string{"*.school.example", "192.168.7.*", "10.1.0.0/16", "fd00::/8", "Lab-PC"}
	for host, want := range map[string]bool{
		"a.school.example": true, "school.example": false, "192.168.7.20": true, "192.168.8.20": false, "10.1.255.255": true, "10.2.0.1": false,
		"fd00::7": true, "fe80::7": false, "lab-pc": true, "evil.example": false, "169.254.169.254": false, "0.0.0.0": false, "2130706433": false,
	} {
		matched := false
		for _, p := range patterns {
			if err := jsonrpc.CheckHostPattern(p); err != nil {
				t.Error(err)
			}
			matched = matched || jsonrpc.MatchHost(p, host)
		}
		if matched != want {
			t.Errorf("%s matches: %v, want %v", host, matched, want)
		}
	}
	for pattern, says := range map[string]string{
		"[a":                "allowed host",
		"10.0.0.0/40":       "no prefix",
		"":                  "is empty",
		"https://a.org/mcp": "is a URL",
		"a.org:8101":        `the host alone is "a.org"`,
		"[::1]":             "brackets",
	} {
		if err := jsonrpc.CheckHostPattern(pattern); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", pattern, err, says)
		}
	}
}

package jsonrpc_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestWhoMayCall: pages of other origins and names that may be theirs are kept out of
// every path, whatever else is wrong with the request.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cfg := jsonrpc.Config{
		Callers: jsonrpc.Callers{Origins: []string{"https://friend.example"}, Hosts: []string{"*.club.example"}},
		Other:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
	}
	called := 0
	server := startHTTP(t, cfg, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		called++
		return jsonrpc.Response{Result: []byte("true")}
	}))
	base := strings.TrimSuffix(server.URL(), jsonrpc.DefaultPath)
	self := strings.TrimPrefix(base, "http://")
	for _, c := range []struct {
		header  []string
		trusted bool
	}{
		{nil, true},
		{[]string{"Origin", base}, true},
		{[]string{"Host", "localhost:8000", "Origin", "http://localhost:8000"}, true},
		{[]string{"Host", "[::1]:8000"}, true},
		{[]string{"Host", "192.168.1.7:8000"}, true},
		{[]string{"Host", "manager:8000"}, true},
		{[]string{"Host", "manager.local"}, true},
		{[]string{"Host", own}, true},
		{[]string{"Host", "LAB.club.example:8000"}, true},
		{[]string{"Origin", "https://friend.example"}, true},
		{[]string{"Host", "friend.example"}, true},
		{[]string{"Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "https://evil.example"}, false},
		{[]string{"Origin", "http://friend.example"}, false},
		{[]string{"Origin", "null"}, false},
		{[]string{"Origin", "http://" + self + "0"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Host", "evil.example:8000"}, false},
		{[]string{"Host", "club.example"}, false},
		{[]string{"Host", "127.0.0.1.evil.example"}, false},
		{[]string{"Host", "evil.example:8000", "Origin", "http://evil.example:8000"}, false},
	} {
		for _, r := range []struct {
			method, path, body string
			want               int
		}{
			{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"m"}`, 200},
			{"POST", "/mcp", `no JSON`, 400},
			{"OPTIONS", "/mcp", "", 405},
			{"GET", "/page", "", 204},
			{"POST", "/page", "", 204},
		} {
			want, before := r.want, called
			if !c.trusted {
				want = 403
			}
			if got, _ := request(t, r.method, base+r.path, strings.NewReader(r.body), c.header...); got.StatusCode != want {
				t.Errorf("%s %s %q: %d, want %d", r.method, r.path, c.header, got.StatusCode, want)
			}
			if !c.trusted && called != before {
				t.Errorf("%s %s %q: the handler was called", r.method, r.path, c.header)
			}
		}
	}
	for method, want := range map[string]int{"GET": 204, "POST": 403} { // a link from another page, a form of it
		if got, _ := request(t, method, base+"/page", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); got.StatusCode != want {
			t.Errorf("%s from another page: %d, want %d", method, got.StatusCode, want)
		}
	}
}

// Where other machines reach a server.
func TestReachable(t *testing.T) {
	addr := func(text string) net.Addr {
		ip, network, err := net.ParseCIDR(text)
		if err != nil {
			t.Fatal(err)
		}
		return &net.IPNet{IP: ip, Mask: network.Mask}
	}
	all := []net.Addr{addr("127.0.0.1/8"), addr("2001:db8::7/64"), addr("fe80::1/64"), addr("10.0.7.3/24"), &net.UnixAddr{Name: "/socket"}, addr("192.168.1.9/16")}
	four := []jsonrpc.FarAddress{{"http://10.0.7.3:8000/mcp", "10.0.7.0/24"}, {"http://192.168.1.9:8000/mcp", "192.168.0.0/16"}}
	both := append(slices.Clone(four), jsonrpc.FarAddress{"http://[2001:db8::7]:8000/mcp", "2001:db8::/64"})
	for host, want := range map[string][]jsonrpc.FarAddress{"": both, "::": both, "0.0.0.0": four, "127.0.0.1": nil, "10.0.7.3": nil, "example.org": nil} {
		got := jsonrpc.Reachable(host, "http://127.0.0.1:8000/mcp", func() ([]net.Addr, error) { return all, nil })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("listening on %q (-want +got):\n%s", host, diff)
		}
	}
	if got := jsonrpc.Reachable("", "http://127.0.0.1:8000/mcp", func() ([]net.Addr, error) { return nil, errors.New("not allowed") }); got != nil {
		t.Errorf("without interfaces: %v", got)
	}
}

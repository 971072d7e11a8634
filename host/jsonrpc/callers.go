package jsonrpc

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
)

// Callers says which web pages may call a server, and by which names. The zero
// value keeps out the pages of other origins, and those that have pointed a name of
// their own at the server (DNS rebinding), as the MCP specification requires.
// Programs that are no browsers are not affected unless they use such a name.
type Callers struct {
	// Origins are the origins ("https://example.org") whose pages may call. Their
	// names count as the server's own.
	Origins []string
	// Hosts are patterns, as of path.Match, for names that are the server's own.
	// Without them these are: addresses, localhost, the name of the machine, names
	// without a dot, and names below suffixes that nobody can register.
	Hosts []string
}

// Guard returns what says why a request is refused, in words for a person, or "". It reads nothing
// but the header, and is safe for concurrent use. The error names an origin or a pattern that cannot be read.
func (c Callers) Guard() (refuse func(*http.Request) string, err error) {
	origins, hosts := http.NewCrossOriginProtection(), slices.Clone(c.Hosts)
	for _, origin := range c.Origins {
		if err := origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("origin %q: want scheme://host[:port]: %w", origin, err)
		}
		if u, err := url.Parse(origin); err == nil {
			hosts = append(hosts, u.Hostname())
		}
	}
	for _, pattern := range c.Hosts {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("host %q: %w", pattern, err)
		}
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	return func(r *http.Request) string {
		probe := r
		if r.Method != http.MethodPost && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			// A page can read what it gets, so reading needs the same protection as
			// writing. What a person opens is not read by the page that links to it.
			probe = r.WithContext(r.Context())
			probe.Method = http.MethodPost
		}
		if origins.Check(probe) != nil {
			return "a web page of another origin may not call this server; --allow-origin allows one"
		}
		if !isOwn(r.Host, hosts) {
			return "the request uses a host name that is not known to be this server's; use its address, or allow the name with --allow-host"
		}
		return ""
	}, nil
}

// unregistrable are suffixes of names that the public DNS does not have (RFC 6761,
// RFC 6762, RFC 8375, and .internal, which ICANN has reserved).
var unregistrable = []string{".localhost", ".local", ".internal", ".home.arpa", ".lan", ".test"}

// isOwn reports whether a Host is the server's by itself or by one of the patterns.
func isOwn(host string, patterns []string) bool {
	name := strings.ToLower(strings.TrimSuffix(hostname(host), "."))
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") {
		return true
	}
	return slices.ContainsFunc(unregistrable, func(suffix string) bool { return strings.HasSuffix(name, suffix) }) ||
		slices.ContainsFunc(patterns, func(pattern string) bool { return MatchHost(pattern, name) })
}

// hostname returns a Host without port and brackets.
func hostname(host string) string { return strings.Trim(peerOf(host), "[]") }

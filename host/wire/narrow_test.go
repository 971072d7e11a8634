package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
)

// A message goes without the members that the peer forbids, however it says so, and
// does so from the first time on.
func TestForbiddenMembersAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(members []string) jsonrpc.Response{
		"pydantic": func(members []string) jsonrpc.Response {
			var findings []string
			for _, m := range members {
				findings = append(findings, fmt.Sprintf(`{"type":"extra_forbidden","loc":["body","params",%q],"msg":"Extra inputs are not permitted"}`, m))
			}
			return jsonrpc.Response{Status: 422, Body: []byte(`{"detail":[` + strings.Join(findings, ",") + `]}`)}
		},
		"keyword arguments": func(members []string) jsonrpc.Response {
			return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32602, Message: "choose() got an unexpected keyword argument '" + members[0] + "'"}}
		},
		"JSON Schema": func(members []string) jsonrpc.Response {
			return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32602, Message: "Additional properties are not allowed ('" + strings.Join(members, "', '") + "' were unexpected)"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := 0
			c, p := Caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
				heard++
				var forbidden []string
				for _, m := range []string{"sender", "timestamp", "conversation_id"} {
					if strings.Contains(string(req.Params), `"`+m+`"`) {
						forbidden = append(forbidden, m)
					}
				}
				if forbidden != nil {
					return refuse(forbidden)
				}
				return jsonrpc.Response{Result: []byte(chosen)}
			})
			callTwice(t, c, p, &heard, 4)
		})
	}
}

// A message goes with what the peer misses by a name of its own, however it says
// so, and does so from the first time on.
func TestMissingMembersAreAdded(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]jsonrpc.Response{
		"a function":     {Error: &jsonrpc.Error{Code: -32603, Message: "choose() missing 1 required positional argument: 'match'"}},
		"a dictionary":   {Error: &jsonrpc.Error{Code: -32603, Message: "'match'"}},
		"pydantic":       {Status: 422, Body: []byte(`{"detail":[{"type":"missing","loc":["body","params","match"],"msg":"Field required"}]}`)},
		"pydantic, text": {Error: &jsonrpc.Error{Code: -32602, Message: "1 validation error for Call\nmatch\n  Field required [type=missing]"}},
		"JSON Schema":    {Error: &jsonrpc.Error{Code: -32602, Message: "'match' is a required property"}},
		"a list":         {Error: &jsonrpc.Error{Code: -32602, Message: "Missing required fields: match"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := 0
			c, p := Caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
				heard++
				if !strings.Contains(string(req.Params), `"match":"R1M1"`) {
					return refusal
				}
				return jsonrpc.Response{Result: []byte(chosen)}
			})
			callTwice(t, c, p, &heard, 2)
		})
	}
}

// callTwice sends a message twice: the peer understands it after a few requests, and then
// after one.
func callTwice(t *testing.T, c *wire.Caller, p *wire.Peer, heard *int, most int) {
	t.Helper()
	for _, most := range []int{most, 1} {
		*heard = 0
		if _, err := c.Call(t.Context(), p, call()); err != nil || *heard > most {
			t.Errorf("%v after %d requests, want at most %d", err, *heard, most)
		}
	}
}

package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
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
			for i, most := range []int{4, 1} {
				heard = 0
				if _, err := c.Call(t.Context(), p, call()); err != nil || heard > most {
					t.Errorf("call %d: %v after %d requests, want at most %d", i, err, heard, most)
				}
			}
		})
	}
}

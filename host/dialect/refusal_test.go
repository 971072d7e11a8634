package dialect

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

// TestRefusalText: what a peer's refusal says in a log, and which code it
// carries.
func TestRefusalText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"protocol: the peer refuses: E005 PLAYER_NOT_REGISTERED (JSON-RPC 3002): Who are you?": &Refusal{Code: protocol.CodePlayerNotRegistered, RPC: 3002, Message: "Who are you?"},
		"protocol: the peer refuses: HTTP status 502":                                          refusalByStatus(502),
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if c := CodeOf(fmt.Errorf("call: %w", &Refusal{Code: protocol.CodeTokenInvalid})); c != protocol.CodeTokenInvalid {
		t.Errorf("CodeOf a refusal is %q", c)
	}
	if c := CodeOf(fmt.Errorf("read: %w", protocol.Refuse(protocol.CodeMissingField, "", ""))); c != protocol.CodeMissingField {
		t.Errorf("CodeOf an error is %q", c)
	}
	if c := CodeOf(errors.New("x")); c != "" {
		t.Errorf("CodeOf a stranger is %q", c)
	}
}

// TestDialectsOnThePage holds the table of wrappings on the reference page to
// the dialects of the protocol itself.
func TestDialectsOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/protocol/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n| dialect |")
	if !found {
		t.Fatal("no table of dialects on the page")
	}
	for _, d := range OfProtocol() {
		row := "\n| `" + d.Name + "` |"
		i := strings.Index(table, row)
		if i < 0 {
			t.Fatalf("dialect %s is not on the page, or out of order", d.Name)
		}
		table = table[i+len(row):]
	}
	if rest, _, _ := strings.Cut(table, "\n\n"); strings.Contains(rest, "\n| `") {
		t.Errorf("the page has more dialects:%s", rest)
	}
}

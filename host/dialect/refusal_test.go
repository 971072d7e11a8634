package dialect

import (
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

// TestRefusalText: what a peer's refusal says in a log, and which code it carries.
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

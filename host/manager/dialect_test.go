package manager_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// In tolerant mode a dialect without JSON-RPC errors gets refusals as text.
func TestABareRegistrationIsRejectedByStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	r.player("ada")
	s := r.silent(protocol.RolePlayer, "ada")
	s.dialct, s.url, s.calls.Codec = dialect.Bare, "http://elsewhere/mcp", dialect.NewCodec(protocol.Tolerant)
	answer, err := s.call(s.application())
	if err != nil {
		t.Fatal(err)
	}
	wantRejected(t, answer.(*protocol.LeagueRegisterResponse))
}

package conformance

import (
	"crypto/rand"

	"github.com/strategylab/strategylab/host/protocol"
)

// credential is what the suite, as a manager, gives an agent under test.
type credential struct {
	token    string // empty before the registration
	verifier protocol.Verifier
}

func newCredential(id string) credential {
	token, err := protocol.NewToken(rand.Reader, id)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return credential{token, protocol.NewVerifier(token)}
}

package agent

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Identity is who an agent is to its manager: the id and token it was given, and whether the
// manager has proved that it gave them. It is safe for concurrent use.
type Identity struct {
	role protocol.Role

	mu       sync.Mutex
	name     string // signs until there is an id
	id       string
	token    string
	league   string
	verifier credential.Verifier
	manager  string // the manager's token, once it has been seen

	settling  chan struct{} // closed when the last registration that was begun is over; nil before
	impatient bool          // somebody has waited for it in vain
}

// NewIdentity returns the identity of an agent that has not registered yet and signs with a name.
func NewIdentity(role protocol.Role, name string) *Identity {
	return &Identity{role: role, name: name}
}

// Introduce changes the name that signs until there is an id.
func (i *Identity) Introduce(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.name = name
}

// Adopt takes on what a registration gave.
func (i *Identity) Adopt(id, token, league string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id, i.token, i.league, i.verifier, i.manager = id, token, league, credential.NewVerifier(token), ""
}

// BeginRegistration says that a registration is running, until the function that
// it returns is called. A manager may speak to an agent as soon as it has
// answered, and so before the agent has read the answer.
func (i *Identity) BeginRegistration() (over func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	settled := make(chan struct{})
	i.settling, i.impatient = settled, false
	return func() { close(settled) }
}

const settlingTime = time.Second

// AwaitRegistration waits for the running registration, if there is one, but not beyond the end of
// ctx. A tolerant agent waits for a second, once: a manager that does one thing at a time answers
// no registration while it waits for the answer to its own message.
func (i *Identity) AwaitRegistration(ctx context.Context, mode protocol.Mode) {
	i.mu.Lock()
	settling, impatient := i.settling, i.impatient && mode == protocol.Tolerant
	i.mu.Unlock()
	if settling == nil || impatient {
		return
	}
	select { // without a timer for each message
	case <-settling:
		return
	default:
	}
	if mode == protocol.Tolerant {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settlingTime)
		defer cancel()
	}
	select {
	case <-settling:
	case <-ctx.Done():
		i.mu.Lock()
		i.impatient = true
		i.mu.Unlock()
	}
}

// ID returns the agent's id, empty before it has one.
func (i *Identity) ID() string { return i.read(&i.id) }

// Token returns the agent's own token, empty before it has one.
func (i *Identity) Token() string { return i.read(&i.token) }

// League returns the league that the agent is in, empty before it has one.
func (i *Identity) League() string { return i.read(&i.league) }

func (i *Identity) read(field *string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return *field
}

// Sender returns what the agent signs as.
func (i *Identity) Sender() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return protocol.Sender(i.role, cmp.Or(i.id, i.name))
}

// Header returns the header of a message to the manager.
func (i *Identity) Header(t protocol.Type, timestamp string) protocol.Header {
	h := protocol.NewHeader(t, i.Sender(), timestamp, jsonrpc.RandomID())
	i.mu.Lock()
	defer i.mu.Unlock()
	h.AuthToken, h.LeagueID = i.token, i.league
	return h
}

// leagueOf is the league a message is about. The lock is held.
func (i *Identity) leagueOf(in *wire.Exchange) string { return cmp.Or(i.league, in.Header.LeagueID) }

// Keys returns the keys of the match that a message is about, for this agent
// and a referee; false before the agent has a token.
func (i *Identity) Keys(in *wire.Exchange, referee string) (credential.KeyPair, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token == "" {
		return credential.KeyPair{}, false
	}
	return i.verifier.MatchKeys(i.leagueOf(in), in.Header.MatchID, referee), true
}

// ManagerProved reports whether the manager has shown the token that only the giver of
// the agent's own can make. Such a manager knows match keys, too.
func (i *Identity) ManagerProved() bool { return i.read(&i.manager) != "" }

// FromManager judges whether a message is the manager's. A manager that has
// shown its token once must show it from then on; in strict mode every manager must.
// One that has not may sign with a name of its own or as its own referee, but not as a player.
func (i *Identity) FromManager(in *wire.Exchange, mode protocol.Mode) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	role, _, err := protocol.ParseSender(in.Header.Sender)
	lenient := mode == protocol.Tolerant && i.manager == ""
	if in.Header.Sender != "" && role != protocol.RoleManager && !(lenient && (err != nil || role == protocol.RoleReferee)) {
		return wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s comes from the league manager, not from %q", in.Type, in.Header.Sender)
	}
	given := in.Header.AuthToken
	switch {
	case credential.SameToken(given, i.manager):
		return nil
	case i.token != "" && credential.SameToken(given, i.verifier.ManagerToken(i.leagueOf(in))):
		i.manager = given
		return nil
	case lenient:
		return nil
	case given == "":
		return wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token; the manager signs with the token that belongs to this agent", in.Type)
	}
	return wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not the manager's", in.Type)
}

package manager

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// maxRefusals is how many different refusals are told of, so that nobody fills
// the screen of whoever runs the league.
const maxRefusals = 200

// inTolerant is what an agent is told whose message only a strict league
// refuses: it may be quicker to ask for another league than to mend the agent.
const inTolerant = "A host started with --validation tolerant takes this message as it is."

// refusing is told of every request that is about to be refused. Whoever runs
// the league hears of registrations, and of what is refused for nothing but
// the strictness of the league; the agent is told of that, too.
func (m *Manager) refusing(_ context.Context, in *wire.Exchange, why *protocol.Error) *protocol.Error {
	if m.strictlyRefused(in.RPC, why) {
		m.refused(in, reasonOf(why), true)
		told := *why
		told.Detail = strings.TrimSpace(why.Detail + " " + inTolerant)
		return &told
	}
	if registers(cmp.Or(in.Type, why.Original)) {
		m.refused(in, reasonOf(why), false)
	}
	return why
}

// reasonOf says in a line all that is wrong with a message.
func reasonOf(why *protocol.Error) string {
	if len(why.Violations) < 2 {
		return strings.TrimSuffix(cmp.Or(why.Detail, why.RPCMessage()), ".")
	}
	paths := make(map[string][]string)
	for _, v := range why.Violations {
		paths[v.Rule] = append(paths[v.Rule], v.Path)
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(paths)) {
		parts = append(parts, rule+": "+strings.Join(paths[rule], ", "))
	}
	return "fields break rules (" + strings.Join(parts, "; ") + ")"
}

func registers(t protocol.Type) bool {
	return t == protocol.TypeLeagueRegisterRequest || t == protocol.TypeRefereeRegisterRequest
}

// strictlyRefused reports whether a refusal has no other reason than that the
// league is strict.
func (m *Manager) strictlyRefused(rpc *jsonrpc.Request, why *protocol.Error) bool {
	if m.cfg.Mode != protocol.Strict {
		return false
	}
	switch why.Code {
	case "", protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeVersionMismatch, protocol.CodeInvalidTimestamp, protocol.CodeContextMismatch:
	default:
		return false // it is about who asks, or about the league
	}
	_, strict := judge(m.endpoint.Codec, rpc)
	_, tolerant := judge(m.tolerant, rpc)
	return strict != nil && tolerant == nil
}

// judge says what a codec has against the form of a request.
func judge(c *protocol.Codec, rpc *jsonrpc.Request) (*wire.Exchange, error) {
	in := &wire.Exchange{RPC: rpc}
	var err error
	if rpc.Kind == jsonrpc.KindObject {
		in.Request, err = c.OpenBare(rpc.Raw)
	} else {
		in.Request, err = c.OpenRead(rpc.Method, rpc.Params)
	}
	if err != nil {
		return in, err
	}
	switch in.Type {
	case protocol.TypeLeagueRegisterRequest:
		_, err = playerApplication(in)
	case protocol.TypeRefereeRegisterRequest:
		_, err = refereeApplication(in)
	default:
		_, err = in.Decode()
	}
	return in, err
}

// refusedBare does the same as refusing for a message without JSON-RPC around
// it, which a strict league's server refuses before anybody has read it.
func (m *Manager) refusedBare(req *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	var frame struct {
		Version jsontext.Value `json:"jsonrpc"`
	}
	if r.Reason != jsonrpc.ReasonBadShape || m.cfg.Mode != protocol.Strict || json.Unmarshal(req.Raw, &frame) != nil || frame.Version != nil {
		return nil
	}
	object := *req
	object.Kind = jsonrpc.KindObject
	in, err := judge(m.tolerant, &object)
	if err != nil {
		return nil
	}
	m.refused(in, "there is no JSON-RPC around the message", true)
	m.tell()
	told := *r
	told.Detail += ". " + inTolerant
	return told.Error()
}

// refused tells of a refusal, the first time that it happens.
func (m *Manager) refused(in *wire.Exchange, why string, strictness bool) {
	name, url := calledItself(in.Raw)
	e := Event{
		Kind: MessageRefused, Agent: in.Header.Sender, Message: in.Type, Name: name, URL: url,
		Error: why, Tolerant: strictness,
	}
	if e.Message == "" { // only a tolerant reader finds out what it is
		if read, err := judge(m.tolerant, in.RPC); err == nil {
			e.Message = read.Type
		}
	}
	m.cfg.Log.Info("a message is refused", "message", string(e.Message), "sender", e.Agent, "name", name, "url", url,
		"reason", why, "tolerant_would_accept", strictness)
	key := fmt.Sprintf("%q", []string{e.Agent, string(e.Message), name, url, why})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refusals[key] || len(m.refusals) == maxRefusals {
		return
	}
	m.refusals[key] = true
	m.emit(e)
}

// calledItself returns what an agent that registers says of itself, as far as
// it does.
func calledItself(message jsontext.Value) (name, url string) {
	type meta struct {
		Name string `json:"display_name"`
		URL  string `json:"contact_endpoint"`
	}
	var said struct {
		Player  meta `json:"player_meta"`
		Referee meta `json:"referee_meta"`
	}
	_ = json.Unmarshal(message, &said) // what cannot be read is not known
	return cmp.Or(said.Player.Name, said.Referee.Name), cmp.Or(said.Player.URL, said.Referee.URL)
}

package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// The dialects of the protocol itself.
var (
	Contracts = &Dialect{Name: "contracts", Title: "One method per message, fields flat in params and result."} // the default
	Envelope  = &Dialect{
		Name:    "envelope",
		Title:   "The method league.handle, the header in params.envelope, the rest in params.payload.",
		Request: Place{Method: "league.handle", Header: "envelope", Message: "payload"},
		Answer:  Place{Header: "envelope", Message: "payload"},
	}
	Tool = &Dialect{ // of MCP clients
		Name:    "tool",
		Title:   "MCP's tools/call with params.name and params.arguments.",
		Request: Place{Method: "tools/call", Name: "name", Message: "arguments"},
		Answer:  Place{Content: true, Message: "structuredContent"},
	}
	ToolIO = &Dialect{
		Name:    "tool-io",
		Title:   "tools/call with params.tool and params.input, answered with result.tool and result.output.",
		Request: Place{Method: "tools/call", Name: "tool", Message: "input"},
		Answer:  Place{Name: "tool", Message: "output"},
	}
	Bare = &Dialect{ // in tolerant mode only
		Name:    "bare",
		Title:   "No JSON-RPC: the body is the message.",
		Request: Place{Bare: true},
		Answer:  Place{Bare: true},
	}
)

// OfProtocol returns the dialects of the protocol itself, [Contracts] first.
func OfProtocol() []*Dialect { return []*Dialect{Contracts, Envelope, Tool, ToolIO, Bare} }

// Named returns the known dialect of that name, with the traits that "+" signs
// add to it: "contracts+numeric-ids". The error lists the known names.
func Named(name string) (*Dialect, error) {
	parts := strings.Split(name, "+")
	at := slices.IndexFunc(known, func(d *Dialect) bool { return d.Name == parts[0] })
	if at < 0 {
		var names []string
		for _, d := range known {
			names = append(names, d.Name)
		}
		return nil, fmt.Errorf("unknown dialect %q; known are %s", name, strings.Join(names, ", "))
	}
	if len(parts) == 1 {
		return known[at], nil
	}
	d := *known[at]
	d.Name = name
	for _, trait := range parts[1:] {
		assigned, isAssignment := strings.CutPrefix(trait, assigns)
		switch change := traits[trait]; {
		case change != nil:
			change(&d)
		case isAssignment && slices.Contains(protocol.AssignmentNames, assigned):
			d.Assignment = assigned
		default:
			return nil, fmt.Errorf("dialect %s: unknown trait %q", parts[0], trait)
		}
	}
	return &d, nil
}

// The dialects of programs from real leagues, which no source describes. Those whose
// methods are the message types accept only a manager LM01 and a referee REF01, and
// require a token in every message.
var (
	TypeMethod = &Dialect{
		Name:   "type-method",
		Title:  "The method is the message type; signed by league_manager:LM01 and referee:REF01.",
		Naming: byType,
		Edits: []Edit{
			byLM01,
			{Member: "sender", Value: rawjson.Quote(protocol.Sender(protocol.RoleReferee, "REF01")), Types: []protocol.Type{ // to players
				protocol.TypeGameInvitation, "GAME_JOIN_ACK_ACK", protocol.TypeChooseParityCall, "CHOOSE_PARITY_RESPONSE_ACK", protocol.TypeGameOver,
			}},
		},
	}
	TypeMethodV2 = &Dialect{
		Name:   "type-method-v2",
		Title:  "As type-method, from players whose player_meta.protocol_version is league.v2; they are REGISTERED.",
		Naming: byType,
		Marks: func(m rawjson.Object) bool {
			return rawjson.Split(m.Get("player_meta")).Text("protocol_version") == protocol.Version
		},
		Edits: append(slices.Clone(TypeMethod.Edits), Edit{
			Types: []protocol.Type{"LEAGUE_REGISTER_RESPONSE"}, Member: "status",
			Was: jsontext.Value(`"ACCEPTED"`), Value: jsontext.Value(`"REGISTERED"`),
		}),
	}
	LowerMethod   = &Dialect{Name: "lower-method", Title: "The method is the message type in lower case.", Naming: func(t protocol.Type) string { return strings.ToLower(string(t)) }}
	HandleMessage = &Dialect{
		Name:    "handle-message",
		Title:   "The method handle_message, the message in params.message.",
		Request: Place{Method: "handle_message", Message: "message"},
	}
	PlainTool = &Dialect{ // some read the answer from the text content, some from the result itself
		Name:    "plain-tool",
		Title:   "tools/call whose arguments bear no header fields; the answer stands in content and beside it.",
		Request: Tool.Request,
		Marks:   func(m rawjson.Object) bool { return m.Get("message_type") == nil },
		Answer:  Place{Content: true, Message: "structuredContent", Flat: true},
		Omit:    []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"},
	}
)

func byType(t protocol.Type) string { return string(t) }

// byLM01 makes the manager sign with an id.
var byLM01 = Edit{Member: "sender", Was: rawjson.Quote(string(protocol.RoleManager)), Value: rawjson.Quote(protocol.Sender(protocol.RoleManager, "LM01"))}

// known lists all dialects, those of the protocol itself first.
var known = append(OfProtocol(), TypeMethod, TypeMethodV2, LowerMethod, HandleMessage, PlainTool)

// RegistrationOrder are the dialects in which an agent tries to register, the commonest first.
var RegistrationOrder = []*Dialect{Contracts, TypeMethod, LowerMethod, HandleMessage, Tool, PlainTool, ToolIO, Envelope, Bare}

// The traits that peers of any dialect may have.
const (
	TraitNumericIDs = "numeric-ids"
	TraitAsync      = "async" // joins come as requests of their own; the call itself gets an acknowledgement
	TraitRequests   = "answers-are-requests"
	TraitTextResult = "text-result"
	TraitBoth       = "answers-are-both" // a result, and a request in one document
	TraitManagerID  = "knows-LM01"       // the manager signs with an id
)

var traits = map[string]func(d *Dialect){
	TraitNumericIDs: func(d *Dialect) { d.NumericIDs = true },
	TraitAsync:      func(*Dialect) {},
	TraitRequests:   func(d *Dialect) { d.Answer = Place{Request: true} },
	TraitTextResult: func(d *Dialect) { d.Answer = Place{Text: true} },
	TraitBoth:       func(d *Dialect) { d.Answer.Both = true },
	TraitManagerID:  func(d *Dialect) { d.Edits = append(slices.Clone(d.Edits), byLM01) },
}

// With returns the dialect with a trait added; the one that [Named] finds. A trait that it has
// already, or an unknown one, changes nothing.
func (d *Dialect) With(trait string) *Dialect {
	if changed, err := Named(d.Name + "+" + trait); err == nil && !d.Has(trait) {
		return changed
	}
	return d
}

// Without returns the dialect without a trait; the one that [Named] finds.
func (d *Dialect) Without(trait string) *Dialect {
	if changed, err := Named(strings.Replace(d.Name, "+"+trait, "", 1)); err == nil && d.Has(trait) {
		return changed
	}
	return d
}

// Has reports whether the trait was added to the dialect.
func (d *Dialect) Has(trait string) bool {
	return slices.Contains(strings.Split(d.Name, "+")[1:], trait)
}

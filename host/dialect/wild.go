package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// The names of the dialects of programs that were met in real leagues.
const (
	DialectTypeMethod    = "type-method"
	DialectTypeMethodV2  = "type-method-v2"
	DialectLowerMethod   = "lower-method"
	DialectHandleMessage = "handle-message"
	DialectPlainTool     = "plain-tool"
)

// TypeMethod is the dialect of programs that call every message by its type.
// They answer only to a manager LM01 and a referee REF01, and want a token in
// whatever comes.
var TypeMethod = &Dialect{
	Name:   DialectTypeMethod,
	Title:  "The method is the message type; signed by league_manager:LM01 and referee:REF01.",
	Naming: ByType,
	Edits: []Edit{
		signed(protocol.RoleManager, "LM01",
			protocol.TypeLeagueRegisterRequest.Answer(), protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted),
		signed(protocol.RoleReferee, "REF01",
			protocol.TypeGameInvitation, protocol.TypeGameJoinAck.Answer(), protocol.TypeChooseParityCall, protocol.TypeChooseParityResponse.Answer(), protocol.TypeGameOver),
	},
}

// TypeMethodV2 is TypeMethod for those who call themselves written for
// league.v2: they want to read REGISTERED.
var TypeMethodV2 = &Dialect{
	Name:   DialectTypeMethodV2,
	Title:  "As type-method, from players whose player_meta.protocol_version is league.v2; they are REGISTERED.",
	Naming: ByType,
	Marks:  []Mark{{Path: []string{"player_meta", "protocol_version"}, Value: protocol.Version}},
	Edits: append(slices.Clone(TypeMethod.Edits), Edit{
		Types: []protocol.Type{protocol.TypeLeagueRegisterRequest.Answer()}, Path: []string{"status"},
		Was: jsontext.Value(`"ACCEPTED"`), Value: jsontext.Value(`"REGISTERED"`),
	}),
}

// LowerMethod is the dialect of programs whose methods are the message types
// in lower case.
var LowerMethod = &Dialect{
	Name:   DialectLowerMethod,
	Title:  "The method is the message type in lower case.",
	Naming: ByLowerType,
}

// HandleMessage is the dialect of programs with a single method that takes the
// message in one parameter.
var HandleMessage = &Dialect{
	Name:    DialectHandleMessage,
	Title:   "The method handle_message, the message in params.message.",
	Request: Place{Method: "handle_message", Message: "message"},
}

// PlainTool is the dialect of programs whose tool calls bear no header fields.
// Some read the answer from the text content, some from the result itself.
var PlainTool = &Dialect{
	Name:    DialectPlainTool,
	Title:   "tools/call whose arguments bear no header fields; the answer stands in content and beside it.",
	Request: Tool.Request,
	Marks:   []Mark{{Path: []string{"message_type"}, Absent: true}},
	Answer:  Place{Content: true, Message: "structuredContent", Flat: true},
	Omit:    []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"},
	Refusal: RefuseByToolError,
}

// wild lists the dialects that no source describes.
var wild = []*Dialect{TypeMethod, TypeMethodV2, LowerMethod, HandleMessage, PlainTool}

// known lists all dialects, those of the protocol itself first.
var known = slices.Concat(builtin, wild)

// Known returns the dialects of the protocol itself and those that were
// met in real leagues, [Contracts] first.
func Known() []*Dialect { return slices.Clone(known) }

// RegistrationOrder returns the dialects in which an agent tries to register
// with a manager that it knows nothing of: the commonest first, and those with
// ids that are numbers when no other is understood.
func RegistrationOrder() []*Dialect {
	order := []*Dialect{Contracts, TypeMethod, LowerMethod, HandleMessage, Tool, PlainTool, ToolIO, Envelope, Bare}
	for _, d := range order[:len(order)-1] {
		order = append(order, d.With(TraitNumericIDs))
	}
	return order
}

// signed makes the manager or the referees sign messages of these types, which
// they send to players, with one id.
func signed(role protocol.Role, id string, types ...protocol.Type) Edit {
	return Edit{Types: types, Path: []string{"sender"}, Value: rawjson.Quote(protocol.Sender(role, id))}
}

// The traits that a peer of any dialect may have besides.
const (
	TraitNumericIDs = "numeric-ids"
	TraitAsync      = "async"
	TraitRequests   = "answers-are-requests"
	TraitTextResult = "text-result"
	TraitBoth       = "answers-are-both" // a result, and a request in one document
)

// traits say what each trait changes in a dialect.
var traits = map[string]func(d *Dialect){
	TraitNumericIDs: func(d *Dialect) { d.NumericIDs = true },
	TraitAsync:      func(d *Dialect) { d.Async = []protocol.Type{protocol.TypeGameJoinAck} },
	TraitRequests:   func(d *Dialect) { d.Answer, d.Refusal = Place{Request: true}, RefuseByMessage },
	TraitTextResult: func(d *Dialect) { d.Answer = Place{Text: true} },
	TraitBoth:       func(d *Dialect) { d.Answer.Both = true },
}

// With returns the dialect with a trait added to it, under the name that
// [DialectNamed] finds it by. A trait that it has already, or that there is
// not, changes nothing.
func (d *Dialect) With(trait string) *Dialect {
	if d.Has(trait) {
		return d
	}
	changed, err := d.withTraits([]string{trait})
	if err != nil {
		return d
	}
	return changed
}

// Has reports whether a trait has been added to the dialect.
func (d *Dialect) Has(trait string) bool {
	return slices.Contains(strings.Split(d.Name, "+")[1:], trait)
}

func (d *Dialect) withTraits(names []string) (*Dialect, error) {
	changed := *d
	for _, name := range names {
		change := traits[name]
		handOut, isHandOut := strings.CutPrefix(name, "hands-out-by-")
		switch {
		case change != nil:
			change(&changed)
		case isHandOut && slices.Contains(handOuts, handOut):
			changed.Assignment = handOut
		default:
			return nil, fmt.Errorf("protocol: there is no trait %q that could be added to dialect %s", name, d.Name)
		}
		changed.Name += "+" + name
	}
	return &changed, nil
}

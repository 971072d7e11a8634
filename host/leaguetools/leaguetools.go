// Package leaguetools offers the messages that an agent of a league accepts as
// tools of the Model Context Protocol: one tool per method, under the method's
// name. The arguments are the message and the result is the answer; the agent
// itself authenticates, checks and refuses, as for any other message.
package leaguetools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// An Agent describes the agent that accepts the messages.
type Agent struct {
	Role protocol.Role
	// Mode is the mode in which the agent checks messages, Takes the types that
	// it accepts.
	Mode  protocol.Mode
	Takes []protocol.Type
	// Serve answers a request as the agent's endpoint would, and returns HTTP
	// status and body: jsonrpc.Serve with the agent's chain.
	Serve func(ctx context.Context, req *jsonrpc.Request) (status int, body []byte)
}

// Tools returns the tools of an agent, in the order of a league.
func Tools(a Agent) (tools []mcptools.Tool) {
	refusing := protocol.TypeGameError
	if a.Role == protocol.RoleManager {
		refusing = protocol.TypeLeagueError
	}
	refusal := protocol.Schema(refusing, protocol.Tolerant, false)
	for _, m := range schema.LeagueTools(a.Mode, a.Takes...) {
		t, _ := protocol.TypeOfMethod(m.Name)
		about, _ := protocol.Describe(t)
		tool := mcptools.Tool{
			Name: m.Name, Title: about.Title, Description: describe(about, a.Mode), Input: alone(m.Input),
			Output: fmt.Appendf(nil, `{"type":"object","anyOf":[%s,%s]}`, alone(m.Output), alone(refusal)), ChecksInput: true,
			Call: func(ctx context.Context, call *mcptools.Call) (json.RawMessage, error) { return a.call(ctx, t, call) },
		}
		annotate(&tool, t)
		tools = append(tools, tool)
	}
	return tools
}

// alone returns a schema without its $id, which a client would take for an address, and
// without the standard's default of $schema.
func alone(schema jsontext.Value) json.RawMessage {
	return json.RawMessage(rawjson.Split(schema).Without("$id", "$schema").Encode())
}

// call sends the message to the agent in MCP's wrapping, and reads the answer.
func (a Agent) call(ctx context.Context, t protocol.Type, call *mcptools.Call) (json.RawMessage, error) {
	m := dialect.Tool.Wrap(call.Tool, jsontext.Value(call.Input))
	m.ID = rawjson.Quote(jsonrpc.RandomID())
	status, body := a.Serve(ctx, &jsonrpc.Request{
		Raw: m.Encode(), Transport: call.From.Transport, Route: call.From.Route, RemoteAddr: call.From.RemoteAddr,
		Host: call.From.Host, Header: plain(call.From.Header),
	})
	return read(t, status, body)
}

// plain returns the header without the fields of MCP, whose rules do not apply to
// the message.
func plain(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	h = h.Clone()
	for _, name := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"} {
		h.Del(name)
	}
	h.Set("Accept", "application/json")
	return h
}

// anyAnswer reads an answer in any wrapping.
var anyAnswer = dialect.NewCodec(protocol.Tolerant)

// read returns the answer in the body of a response. The agent may answer in another wrapping, if
// the sender has shown that it does not read this one. A refusal is an error: a *mcptools.Refusal
// if it has the form of the league, and otherwise one with its text.
func read(t protocol.Type, status int, body []byte) (json.RawMessage, error) {
	answer, err := dialect.ParseAnswer(status, body)
	if err != nil {
		return nil, fmt.Errorf("the agent's answer cannot be read: %w", err)
	}
	m, err := anyAnswer.ReadAnswer(t, answer)
	switch refusal, refused := errors.AsType[*dialect.Refusal](err); {
	case !refused:
	case rawjson.Split(refusal.Data).Text("error_code") == "":
		return nil, errors.New(refusal.Message)
	default:
		return nil, &mcptools.Refusal{
			Structured: json.RawMessage(refusal.Data), Text: fmt.Sprintf("%s %s: %s", refusal.Code, refusal.Code.Name(), refusal.Message),
		}
	}
	if err != nil {
		return nil, err
	}
	doc, err := protocol.Encode(m)
	return json.RawMessage(doc), err
}

// purpose describes each message to readers who do not know the protocol.
var purpose = map[protocol.Type]string{
	protocol.TypeRefereeRegisterRequest: "Registers a referee with the league. referee_meta.contact_endpoint is the URL of the referee. " +
		"The answer holds the referee_id and the auth_token for all later messages; the token is shown once.",
	protocol.TypeLeagueRegisterRequest: "Registers a player with the league. player_meta.contact_endpoint is the URL of the player. " +
		"The answer holds the player_id and the auth_token for all later messages; the token is shown once. An answer of status REJECTED has a reason.",
	protocol.TypeStartLeague: "Starts the league with the registered agents. It needs the admin token of the host; if none is configured, it must come from the host's own machine. " +
		"Of a running league, it returns the status.",
	protocol.TypeSetPlayerStatus: "Takes a player out of a running league or lets it back in; it needs the admin token. status is WITHDRAWN (it loses its remaining matches and stays out), " +
		"SUSPENDED (the same, until it is readmitted) or ACTIVE (readmitted: it plays, and its next registration needs no token and gets a new one).",
	protocol.TypeSetPace: "Pauses the league, lets it go on, or sets the pause after each round; it needs the admin token. paused true: the current round is played to its end, " +
		"and no further one begins; false: the league goes on. pace_ms: the pause after each round, in milliseconds.",
	protocol.TypeMatchProgress: "Tells how far the matches of a referee are, for people who watch: who is asked for a choice, who has chosen, who was asked again, the time left. " +
		"It holds no choice and decides nothing.",
	protocol.TypeMatchResultReport: "Reports the result of a match; only the referee that it was assigned to may do so. Each match is reported once; " +
		"the refusal of a repeat says whether the result was the same.",
	protocol.TypeLeagueQuery: "Returns information about the league. query_type is GET_STANDINGS (the table), GET_SCHEDULE (all matches; query_params.round_id for one round), " +
		"GET_PLAYERS, GET_STATUS (the progress of the league) or GET_NEXT_MATCH (query_params.player_id, by default the sender). It changes nothing.",
	protocol.TypeRoundAnnouncement:     "Announces a round and its matches. A referee starts the matches that are assigned to it.",
	protocol.TypeLeagueStandingsUpdate: "Sends the table after a round.",
	protocol.TypeRoundCompleted:        "Announces that every match of a round has been reported.",
	protocol.TypeLeagueCompleted:       "Announces the end of the league, with its winner and the final table.",
	protocol.TypeGameInvitation:        "Invites the player to a match. The answer says whether the player joins.",
	protocol.TypeGameJoinAck:           "Delivers a player's answer to an invitation, if the player did not answer at once.",
	protocol.TypeChooseParityCall: "Asks the player for its choice in a match that it has joined. The answer's parity_choice is even or odd. " +
		"Asked again for the same match, it gives the same choice.",
	protocol.TypeChooseParityResponse: "Delivers a player's choice, if the player did not answer at once.",
	protocol.TypeGameOver:             "Sends the player the result of a match.",
	protocol.TypeGameError:            "Reports a fault in a match to the player, such as a late answer, and its consequence.",
}

// describe returns the description of a tool for a model.
func describe(about *protocol.Description, mode protocol.Mode) string {
	var signers []string
	for _, role := range about.From {
		signers = append(signers, map[protocol.Role]string{
			protocol.RoleManager: "league_manager", protocol.RoleLauncher: "launcher",
			protocol.RoleReferee: "referee:<id>", protocol.RolePlayer: "player:<id>",
		}[role])
	}
	text := purpose[about.Type] + fmt.Sprintf(" The arguments are a message of league.v2: protocol is %q, message_type %q, sender %s, "+
		"timestamp the time in UTC (2026-01-31T12:00:00Z), conversation_id any text of your own.",
		protocol.Version, about.Type, strings.Join(signers, " or "))
	if mode == protocol.Tolerant {
		text += " Fields that the agent can infer may be left out."
	}
	if about.Auth {
		text += " auth_token authenticates the sender; a message without the right token is refused."
	}
	return text + fmt.Sprintf(" The answer is %s; the error_code and detail of a refusal say what to do.", about.Answer)
}

// annotate sets the hints of a tool.
func annotate(tool *mcptools.Tool, t protocol.Type) {
	switch t {
	case protocol.TypeLeagueQuery:
		tool.ReadOnly, tool.Idempotent = true, true
	case protocol.TypeRefereeRegisterRequest, protocol.TypeLeagueRegisterRequest:
		tool.OpenWorld = true // the manager may call the agent
	case protocol.TypeStartLeague, protocol.TypeRoundAnnouncement:
		tool.Idempotent, tool.OpenWorld = true, true // others are called
	default:
		tool.Idempotent = true
	}
}

// Instructions tells a model what the server of an agent is for.
func Instructions(role protocol.Role) string {
	switch role {
	case protocol.RoleManager:
		return "The manager of a league of parity games (league.v2): players choose even or odd, a number is drawn, and a player who alone was right wins. " +
			"Register a player or a referee, start the league, and ask about it with league_query. Keep the auth_token of the registration: every later message needs it."
	case protocol.RoleReferee:
		return "A referee of a league of parity games (league.v2). It accepts the announcements of the manager and the answers of players; every message must bear the token of its sender."
	}
	return "A player of a league of parity games (league.v2). It accepts invitations and calls for a choice from referees, and the announcements of the manager; every message must bear the token of its sender."
}

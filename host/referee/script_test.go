package referee_test

import (
	"context"
	"encoding/json"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

func tokenOf(id string) string { return "tok-" + id + "-aabbccddeeff00112233445566778899aabbccdd" }

func keysOf(player, match string) credential.KeyPair {
	return credential.NewVerifier(tokenOf(player)).MatchKeys(league, match, "REF01")
}

// obj is a JSON object.
type obj = map[string]any

// say is a result.
func say(o obj) jsonrpc.Response {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Result: raw}
}

// refuse is a JSON-RPC error with data.
func refuse(code int, data obj) jsonrpc.Response {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: "no", Data: raw}}
}

// header is the header of an answer of a player to a message.
func header(h *heard, t protocol.Type) obj {
	return obj{
		"protocol": "league.v2", "message_type": string(t), "sender": "player:" + h.who, "timestamp": "2026-01-01T00:00:00Z",
		"conversation_id": h.ConversationID, "match_id": h.MatchID, "player_id": h.who, "auth_token": keysOf(h.who, h.MatchID).Expect,
	}
}

func with(o obj, pairs ...any) obj {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(o, pairs[i].(string))
		} else {
			o[pairs[i].(string)] = pairs[i+1]
		}
	}
	return o
}

func joins(h *heard) jsonrpc.Response {
	return say(with(header(h, protocol.TypeGameJoinAck), "accept", true, "arrival_timestamp", "2026-01-01T00:00:00Z"))
}

func chooses(h *heard, choice string) jsonrpc.Response {
	return say(with(header(h, protocol.TypeChooseParityResponse), "parity_choice", choice))
}

// script says how an agent answers.
type script func(ctx context.Context, h *heard) jsonrpc.Response

// plays is a player by the book.
func plays(choice string) script {
	return func(_ context.Context, h *heard) jsonrpc.Response {
		switch h.MessageType {
		case protocol.TypeGameInvitation:
			return joins(h)
		case protocol.TypeChooseParityCall:
			return chooses(h, choice)
		}
		return say(header(h, h.MessageType+"_ACK"))
	}
}

// except answers one type of message otherwise.
func except(s script, t protocol.Type, odd script) script {
	return func(ctx context.Context, h *heard) jsonrpc.Response {
		if h.MessageType == t {
			return odd(ctx, h)
		}
		return s(ctx, h)
	}
}

// hangs never answers.
func hangs(ctx context.Context, _ *heard) jsonrpc.Response {
	<-ctx.Done()
	return jsonrpc.Response{}
}

// keeps is a manager that takes everything.
func keeps(_ context.Context, h *heard) jsonrpc.Response {
	a := obj{"protocol": "league.v2", "sender": "league_manager", "timestamp": "2026-01-01T00:00:00Z", "conversation_id": h.ConversationID}
	if h.MessageType == protocol.TypeRefereeRegisterRequest {
		return say(with(a, "message_type", "REFEREE_REGISTER_RESPONSE", "status", "ACCEPTED", "referee_id", "REF01",
			"auth_token", refereeToken, "league_id", league))
	}
	return say(with(a, "message_type", "MATCH_RESULT_ACK", "status", "ACCEPTED", "recorded", true, "match_id", h.MatchID, "round_id", 1))
}

// match is an announced match between two players, with its keys.
func match(id, a, b string) obj {
	return obj{
		"match_id": id, "game_type": "even_odd", "player_A_id": a, "player_B_id": b, "referee_id": "REF01",
		"referee_endpoint": "http://REF01/mcp", "player_A_endpoint": "http://" + a + "/mcp", "player_B_endpoint": "http://" + b + "/mcp",
		"player_A_keys": keysOf(a, id), "player_B_keys": keysOf(b, id),
	}
}

// fromManager is a message of the manager.
func fromManager(t protocol.Type, pairs ...any) obj {
	return with(obj{
		"protocol": "league.v2", "message_type": string(t), "sender": "league_manager", "timestamp": "2026-01-01T00:00:00Z",
		"conversation_id": "c", "league_id": league, "round_id": 1,
		"auth_token": credential.NewVerifier(refereeToken).ManagerToken(league),
	}, pairs...)
}

func round(matches ...obj) obj {
	return fromManager(protocol.TypeRoundAnnouncement, "byes", []string{}, "matches", append([]obj{}, matches...))
}

func completed() obj {
	return with(fromManager(protocol.TypeLeagueCompleted, "total_rounds", 1, "total_matches", 1,
		"champion", obj{"player_id": "P01", "display_name": "P01", "points": 3},
		"final_standings", []obj{{"rank": 1, "player_id": "P01", "display_name": "P01", "points": 3, "wins": 1, "draws": 0, "losses": 0}}), "round_id", nil)
}

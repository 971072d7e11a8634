package dialect

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestAnswersInOtherSpellings: an answer to a request of ours counts as long as
// what was asked for can be found in it, and says what is wrong with it.
func TestAnswersInOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`{"parity_choice":"EVEN"}`, `{"choice":" Even "}`, `{"parity_choice":"","choice":"even"}`, `{"parity_choice":null,"choice":"EVEN"}`,
		`{"message_type":"CHOOSE_PARITY_CALL","parity_choice":"even"}`, `{"message_type":"GAME_JOIN_ACK","choice":"even"}`,
		`{"protocol":"league.v1","parity_choice":"even"}`, `{"match_id":"a\u0007b","parity_choice":"even"}`,
		`{"parity_choice":"even","timestamp":1763800000.25}`, `{"parity_choice":"even","timestamp":"2026-11-22 12:00:00"}`,
		`{"parity_choice":"even","timestamp":"2026-11-22T12:00:00.123456"}`, `{"parity_choice":"even","timestamp":"2026-11-22T12:00:00+00:00Z"}`,
		`{"parity_choice":"even","player_id":3}`, `{"parity_choice":"even","sender":"players:P03"}`, `{"parity_choice":"even","sender":""}`,
		`"even"`, `"I choose even."`, `{"content":[{"type":"text","text":"I choose even."}]}`, `{"move":"even"}`, `{"data":{"parity":"Even"},"status":"ok"}`, `{"parity_choice":"Even","input":{"seen":7}}`, `{"parity_choice":"even","round_id":[]}`,
	} {
		m, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeChooseParityCall, Answer{Status: 200, Raw: jsontext.Value(result)})
		if err != nil {
			t.Errorf("%s: %v", result, err)
			continue
		}
		if c := m.(*protocol.ChooseParityResponse).Chosen(); c != protocol.Even {
			t.Errorf("%s: chosen %q", result, c)
		}
		if m.Head().MatchID != "" {
			t.Errorf("%s: of match %q", result, m.Head().MatchID)
		}
		if m.Head().Flaw == nil && !strings.Contains(result, `""`) { // empty is missing
			t.Errorf("%s: nothing is wrong with it", result)
		}
	}
	for result, want := range map[string]bool{
		`{"accept":true,"player_id":"players:P03"}`: true, `{"accept":"true"}`: true, `{"accepted":"yes","arrival_timestamp":12.5}`: true,
		`true`: true, `false`: false, `{"accept":1}`: true, `{"content":[{"type":"text","text":"Here."}],"result":{"accept":false}}`: false, `{"accept":"no"}`: false, `{"accept":false,"player_id":""," ":1,"sender":"x"}`: false,
		`{"message_type":"GAME_INVITATION","status":"accepted"}`: true, `{"message_type":"GAME_JOIN_ACK","arrival_timestamp":"now"}`: true,
	} {
		m, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeGameInvitation, Answer{Raw: jsontext.Value(result)})
		if err != nil {
			t.Errorf("%s: %v", result, err)
			continue
		}
		if joins, said := m.(*protocol.GameJoinAck).Joins(); !said || joins != want {
			t.Errorf("%s: joins %v, said %v", result, joins, said)
		}
	}
}

// TestTypeInThePath: a message without a type is known by where it was sent.
func TestTypeInThePath(t *testing.T) {
	t.Parallel()
	r, _ := NewCodec(protocol.Tolerant).Open(&jsonrpc.Request{Kind: jsonrpc.KindObject, Raw: jsontext.Value(`{"game_id":7}`), Route: "/mcp/invite"})
	if !r.Infer(protocol.Types()) || r.Type != protocol.TypeGameInvitation || r.Header.MatchID != "7" {
		t.Errorf("%s of match %q", r.Type, r.Header.MatchID)
	}
}

// opened returns a request as its receiver decodes it.
func opened(t *testing.T, mode protocol.Mode, method, params string) (protocol.Message, error) {
	t.Helper()
	r, err := opens(NewCodec(mode), method, []byte(params))
	if err != nil {
		return nil, err
	}
	return r.Decode()
}

// TestRegistrationsInOtherSpellings: an agent may say who it is beside the header,
// in an object of another name, or in other words.
func TestRegistrationsInOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		`{"display_name":"Ada","contact_endpoint":"http://a/mcp"}`, `{"name":"Ada","endpoint":"http://a/mcp","game_types":"even_odd"}`,
		`{"agent":{"agent_name":"Ada","callback_url":"http://a/mcp"}}`, `{"player_meta":{"name":"Ada","url":"http://a/mcp"}}`,
		`{"sender":"player:Ada","player_meta":{},"endpoint":"http://a/mcp"}`, `{"player_meta":"none","player_name":"Ada","player_url":"http://a/mcp"}`,
		`{"display_name":"Ada","mcp_url":"http://a/mcp"}`, `{"playerMeta":{"displayName":"Ada","contactEndpoint":"http://a/mcp"}}`, `{"player":{"bot_name":"Ada","webhook_for_calls":"http://a/mcp"}}`,
		`{"player_meta":{"name":"Ada","url":"http://a/mcp","agent":{"name":"model-4"}}}`,
	} {
		for _, mode := range []protocol.Mode{protocol.Tolerant, protocol.Strict} {
			m, err := opened(t, mode, "register_player", params)
			if mode == protocol.Strict {
				if err == nil {
					t.Errorf("strict: %s is taken", params)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", params, err)
				continue
			}
			if meta := m.(*protocol.LeagueRegisterRequest).Meta; meta.DisplayName != "Ada" || meta.ContactEndpoint != "http://a/mcp" || m.Head().Flaw == nil {
				t.Errorf("%s: %+v", params, meta)
			}
		}
	}
	for _, params := range []string{
		`{"referee_name":"Ref","referee_url":"http://r/mcp","capacity":2}`, `{"referee_meta":{"name":"Ref","url":"http://r/mcp"},"max_concurrent_matches":2}`,
	} {
		m, err := opened(t, protocol.Tolerant, "register_referee", params)
		if err != nil {
			t.Fatal(err)
		}
		if meta := m.(*protocol.RefereeRegisterRequest).Meta; meta.DisplayName != "Ref" || meta.ContactEndpoint != "http://r/mcp" || meta.MaxConcurrentMatches.Value() != 2 {
			t.Errorf("%s: %+v", params, meta)
		}
	}
	for _, params := range []string{`{"display_name":"Ada"}`, `{"endpoint":7,"name":"Ada"}`, `{"endpoint":"http://a/mcp"}`} {
		if _, err := opened(t, protocol.Tolerant, "register_player", params); CodeOf(err) != protocol.CodeMissingField {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// A tolerant agent takes the fields of a match under other names, and echoes those
// in its answer as they came; a strict one does not.
func TestFieldsUnderOtherNames(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"message_type":"GAME_INVITATION","sender":"ref","game_id":"g/1","round":2,"opponent":"P02","role":"player_b"}`:      `"game_id":"g/1"`,
		`{"message_type":"GAME_INVITATION","sender":"ref","game_id":7,"round_number":2,"opponent_id":"P02","side":"B"}`:       `"game_id":7`,
		`{"message_type":"GAME_INVITATION","sender":"ref","matchId":"g/1","roundId":"ROUND_2","opponentId":"P02","role":"x"}`: `"matchId":"g/1"`,
	} {
		r, err := opens(NewCodec(protocol.Tolerant), "invite", []byte(params))
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		m, err := r.Decode()
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		invitation := m.(*protocol.GameInvitation)
		if r.Header.MatchID == "" || r.Header.RoundID.Number() != 2 || invitation.OpponentID != "P02" || invitation.RoleInMatch == "" {
			t.Errorf("%s: %+v", params, invitation)
		}
		join := &protocol.GameJoinAck{Header: r.Header.Answer(protocol.TypeGameJoinAck, "player:P01", "2026-01-01T00:00:00Z"), PlayerID: "P01"}
		reply, err := r.Reply(join)
		if err != nil || !strings.Contains(string(reply.Result), want) {
			t.Errorf("%s: answered by %s, %v, want %s in it", params, reply.Result, err, want)
		}
		if strict, err := opens(NewCodec(protocol.Strict), "invite", []byte(params)); err == nil {
			if _, err := strict.Decode(); err == nil {
				t.Errorf("%s: a strict agent takes it", params)
			}
		}
	}
}

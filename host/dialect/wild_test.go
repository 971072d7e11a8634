package dialect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// peerExamples holds a registration in every dialect that no source describes.
const peerExamples = "../../docs/protocol/peers"

// TestPeerExamples holds an example of every wild dialect to the codec, and the
// codec to recognising it among all dialects; with -update it rewrites them.
func TestPeerExamples(t *testing.T) {
	t.Parallel()
	m := named(t, "league_register_request").message.(*protocol.LeagueRegisterRequest)
	for _, d := range known[len(builtin):] {
		name := filepath.Join(peerExamples, d.Name+".json")
		if m.Meta.ProtocolVersion = ""; d == TypeMethodV2 {
			m.Meta.ProtocolVersion = protocol.Version
		}
		call, err := d.Call(m)
		if err != nil {
			t.Fatal(err)
		}
		call.ID = jsontext.Value(`1`)
		want := indented(t, ordered(t, call.Encode()))
		if *update {
			if err := os.MkdirAll(peerExamples, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the codec writes (%v); run with -update", name, err)
			continue
		}
		doc := parsed(t, got)
		for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
			req, err := NewCodec(mode).Open(doc.Text("method"), doc.Get("params"))
			if err != nil || req.Dialect != d || req.Type != protocol.TypeLeagueRegisterRequest {
				t.Errorf("%s is opened as %s in dialect %s: %v", name, req.Type, req.Dialect.Name, err)
			}
		}
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	d := LowerMethod.With(TraitNumericIDs).With(TraitRequests).With(TraitNumericIDs).With("no-such-trait")
	if d.Name != "lower-method+numeric-ids+answers-are-requests" || !d.NumericIDs || !d.Answer.Request || LowerMethod.NumericIDs {
		t.Errorf("%+v", d)
	}
	again, err := Named(d.Name)
	if err != nil || again.Name != d.Name || !again.NumericIDs || !again.Answer.Request {
		t.Errorf("%+v, %v", again, err)
	}
	handed, err := Named("contracts+" + AssignmentTrait("RUN_MATCH"))
	if err != nil || handed.Assignment != "RUN_MATCH" {
		t.Errorf("%+v, %v", handed, err)
	}
	for _, bad := range []string{"", "no-such", "contracts+", "contracts+no-such", "contracts+hands-out-by-nothing"} {
		if d, err := Named(bad); err == nil {
			t.Errorf("%q is %+v", bad, d)
		}
	}
}

// TestAssignments: a match that is handed out alone is read as an announcement of
// it, whatever its fields are called.
func TestAssignments(t *testing.T) {
	t.Parallel()
	want := protocol.AnnouncedMatch{MatchID: "R2M1", PlayerAID: "P01", PlayerBID: "P02", PlayerAEndpoint: "http://a/mcp", PlayerBEndpoint: "http://b/mcp"}
	for name, tt := range map[string]struct{ method, params string }{
		"by the announcement's names": {"START_MATCH", `{"message_type":"START_MATCH","match_id":"R2M1","player_A_id":"P01","player_B_id":"P02","player_A_endpoint":"http://a/mcp","player_B_endpoint":"http://b/mcp"}`},
		"in lower case":               {"start_match", `{"match_id":"R2M1","round_id":2,"player_a_id":"P01","player_b_id":"P02","player_a_endpoint":"http://a/mcp","player_b_endpoint":"http://b/mcp"}`},
		"as a list of objects":        {"assign_match", `{"match_id":"R2M1","players":[{"player_id":"P01","endpoint":"http://a/mcp"},{"player_id":"P02","contact_endpoint":"http://b/mcp"}]}`},
		"with who forfeits":           {"START_MATCH", `{"match_id":"R2M1","player1_id":"P01","player2_id":"P02","player1_endpoint":"http://a/mcp","player2_endpoint":"http://b/mcp","forfeits":["P02"]}`},
		"inside":                      {"RUN_MATCH", `{"message_type":"RUN_MATCH","match":{"match_id":"R2M1","player_a":{"id":"P01","url":"http://a/mcp"},"player_b":{"id":"P02","url":"http://b/mcp"}}}`},
	} {
		m, err := opened(t, protocol.Tolerant, tt.method, tt.params)
		a, ok := m.(*protocol.RoundAnnouncement)
		if !ok || len(a.Matches) != 1 || a.RoundID.Number() != 2 {
			t.Errorf("%s: %T %+v, %v", name, m, m, err)
			continue
		}
		got := a.Matches[0]
		if strings.Contains(tt.params, "forfeits") != slices.Equal(got.Forfeits, []string{"P02"}) {
			t.Errorf("%s: %q forfeit", name, got.Forfeits)
		}
		if got.Extra = nil; got.MatchID != want.MatchID || got.PlayerAID != want.PlayerAID || got.PlayerBID != want.PlayerBID ||
			got.PlayerAEndpoint != want.PlayerAEndpoint || got.PlayerBEndpoint != want.PlayerBEndpoint {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := NewCodec(protocol.Tolerant).Open("start_match", []byte(`{"players":[]}`)); CodeOf(err) != protocol.CodeMissingField {
		t.Errorf("a match without an id: %v", err)
	}
	ids := AssignmentNameIn(jsontext.Value(`{"referee_meta":{"display_name":"x","tools":[{"name":"report"},{"name":"RUN_MATCH"}]}}`))
	if ids != "RUN_MATCH" {
		t.Errorf("the registration suggests %q", ids)
	}
}

// An answer that is both can be read by those who look for a result and by
// those who look for params; a refusal is only a refusal.
func TestAnswersThatAreBoth(t *testing.T) {
	t.Parallel()
	r, err := NewCodec(protocol.Tolerant).OpenRequest(&jsonrpc.Request{Method: "game_invitation", ID: []byte("1"), Params: []byte(`{"message_type":"GAME_INVITATION","match_id":"R1M1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	r.Dialect = r.Dialect.With(TraitBoth)
	join := &protocol.GameJoinAck{PlayerID: "P01", Accept: protocol.Some(true)}
	join.MessageType = protocol.TypeGameJoinAck
	reply, err := r.Reply(join)
	if err != nil {
		t.Fatal(err)
	}
	raw := mustDocument(t, reply)
	doc := parsed(t, raw)
	if !bytes.Equal(doc.Get("result"), doc.Get("params")) || string(doc.Get("id")) != "1" || doc.Text("method") != "game_join_ack" {
		t.Errorf("the answer is %s", raw)
	}
	a, err := ParseAnswer(200, raw)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeGameInvitation, a); err != nil || m.(*protocol.GameJoinAck).PlayerID != "P01" {
		t.Errorf("it reads as %+v, %v", m, err)
	}
	refused := r.Refuse(protocol.Header{}, protocol.Refuse(protocol.CodeInvalidState, protocol.TypeGameInvitation, "no"))
	if refused.Body != nil || refused.Result != nil || refused.Error == nil {
		t.Errorf("a refusal is %+v", refused)
	}
}

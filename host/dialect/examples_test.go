package dialect

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// namedExamples are the files that one of the protocol's sources names; they
// are the envelope forms of these messages.
var namedExamples = map[string]string{
	"league_register_request":  "register_player_request.json",
	"referee_register_request": "register_referee_request.json",
	"match_result_report":      "match_result_report.json",
}

// examplePath returns the file of a sample in a dialect.
func examplePath(d *Dialect, name string) string {
	if named, ok := namedExamples[name]; ok && d == Envelope {
		return named
	}
	return filepath.Join(d.Name, name+".json")
}

// isVariant reports whether a sample shows another look of a type that has an
// example already; variants are written in one dialect only.
func (s sample) isVariant() bool {
	return s.name != strings.ToLower(string(s.message.Head().MessageType))
}

// rpcID returns a JSON-RPC id that belongs to a message type: an exchange
// bears the same one in both directions.
func rpcID(t protocol.Type) jsontext.Value {
	h := sha256.Sum256([]byte(t))
	h[6], h[8] = h[6]&0x0f|0x50, h[8]&0x3f|0x80 // a UUID of version 5
	return value(fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16]))
}

// wire returns the whole document that carries a sample in a dialect.
func (s sample) wire(t testing.TB, d *Dialect) jsontext.Value {
	t.Helper()
	if s.sent == "" {
		call, err := d.Call(s.message)
		if err != nil {
			t.Fatalf("%s in %s: %v", s.name, d.Name, err)
		}
		call.ID = rpcID(s.message.Head().MessageType)
		return ordered(t, call.Encode())
	}
	req := openSample(t, d, s.sent)
	var r jsonrpc.Response
	if s.message.Head().MessageType == protocol.TypeLeagueError {
		r = req.Refuse(*s.message.Head(), duplicateReport())
	} else {
		var err error
		if r, err = req.Reply(s.message); err != nil {
			t.Fatalf("%s in %s: %v", s.name, d.Name, err)
		}
	}
	return ordered(t, r.Encode(&jsonrpc.Request{ID: rpcID(s.sent)}))
}

// ordered returns a document of JSON-RPC with its id last, as the example files have it.
func ordered(t testing.TB, raw []byte) jsontext.Value {
	doc := parsed(t, raw)
	if id := doc.Get("id"); id != nil && doc.Get("jsonrpc") != nil {
		doc = append(doc.Without("id"), rawjson.Member{Name: "id", Value: id})
	}
	return doc.Encode()
}

// openSample returns the request of a type as its receiver opens it.
func openSample(t testing.TB, d *Dialect, sent protocol.Type) *Request {
	t.Helper()
	call, err := d.Call(named(t, strings.ToLower(string(sent))).message)
	if err != nil {
		t.Fatal(err)
	}
	req, err := openCall(NewCodec(protocol.Tolerant), call)
	if err != nil {
		t.Fatalf("open %s in %s: %v", sent, d.Name, err)
	}
	req.Dialect = d // with its traits, which a request does not show
	return req
}

// openCall opens a call as its receiver does.
func openCall(c *Codec, call jsonrpc.Message) (*Request, error) {
	if call.Body != nil {
		return c.Open(&jsonrpc.Request{Kind: jsonrpc.KindObject, Raw: call.Body})
	}
	return opens(c, call.Method, call.Params)
}

// opens opens a request under a method.
func opens(c *Codec, method string, params jsontext.Value) (*Request, error) {
	return c.Open(&jsonrpc.Request{Method: method, Params: params})
}

// exampleFiles returns what the example files hold, by path.
func exampleFiles(t testing.TB) map[string]jsontext.Value {
	files := make(map[string]jsontext.Value)
	all := samples(t)
	for _, d := range OfProtocol() {
		for _, s := range all {
			if s.isVariant() && d != Contracts {
				continue
			}
			path := examplePath(d, s.name)
			if files[path] != nil {
				t.Fatalf("two samples are written to %s", path)
			}
			files[path] = s.wire(t, d)
		}
	}
	return files
}

// TestExamplesAreWritten holds the example files to the samples; with -update it rewrites them.
func TestExamplesAreWritten(t *testing.T) {
	want := exampleFiles(t)
	for path, raw := range want {
		name := filepath.Join(examples, path)
		text := indented(t, raw)
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v; run with -update", err)
		} else if !bytes.Equal(got, text) {
			t.Errorf("%s is not what the codec writes; run with -update", name)
		}
	}
	for path := range exampleBytes(t) {
		if want[path] == nil {
			t.Errorf("%s belongs to no sample; remove it", path)
		}
	}
}

// exampleBytes reads all example files, by path.
func exampleBytes(t testing.TB) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(examples), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(examples, path))
		files[filepath.FromSlash(path)] = raw
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestExamples: the document of every example file keeps the schema of its dialect.
func TestExamples(t *testing.T) {
	t.Parallel()
	wrappings := make(map[*Dialect]*jsonschema.Schema)
	decoded := func(text []byte) any {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	for _, d := range OfProtocol() {
		c := jsonschema.NewCompiler()
		err := c.AddResource(d.Name, decoded(d.WrappingSchema()))
		if err == nil {
			wrappings[d], err = c.Compile(d.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range exampleBytes(t) {
		d := Envelope // of the named examples
		if in, err := Named(filepath.Dir(path)); err == nil {
			d = in
		}
		if err := wrappings[d].Validate(decoded(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// sourceExample is a complete JSON example of one of the documents that the
// protocol was put together from: its values, with sentences of our own.
// Messages that stand there without a header were given one.
type sourceExample struct {
	Source   string         `json:"source"`
	Section  string         `json:"section"`
	Document jsontext.Value `json:"document"`
}

func sourceExamples(t testing.TB) []sourceExample {
	t.Helper()
	text, err := os.ReadFile("../protocol/testdata/source_examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []sourceExample
	for line := range bytes.Lines(text) {
		var e sourceExample
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// sourceRefusals are the errors among the examples, by JSON-RPC code.
var sourceRefusals = map[int]protocol.Code{
	-32600: "", 1001: protocol.CodeLeagueFull, 2002: protocol.CodeDuplicateName, 3001: protocol.CodeTokenInvalid,
	-1: protocol.CodeTimeout, 5003: protocol.CodeDuplicateReport, 12: protocol.CodeTokenInvalid,
}

// TestSourceExamples: a tolerant receiver takes every one of them, although
// the documents contradict each other, and loses nothing of it.
func TestSourceExamples(t *testing.T) {
	t.Parallel()
	all := sourceExamples(t)
	if len(all) != 72 {
		t.Errorf("%d examples, want all 72", len(all))
	}
	c := NewCodec(protocol.Tolerant)
	for _, e := range all {
		doc, body := parsed(t, e.Document), e.Document
		rpc, typ := doc.Get("jsonrpc") != nil, protocol.Type(doc.Text("message_type"))
		var m protocol.Message
		var err error
		switch {
		case doc.Get("error") != nil:
			a, failed := ParseAnswer(200, e.Document)
			_, err = c.ReadAnswer(protocol.TypeLeagueQuery, a)
			var refusal *Refusal
			if failed != nil || !errors.As(err, &refusal) || refusal.Code != sourceRefusals[refusal.RPC] {
				t.Errorf("%s %s: read as %v", e.Source, e.Section, err)
			}
			continue
		case rpc && doc.Get("method") != nil, !rpc && isRequest(typ):
			call := jsonrpc.Message{Method: doc.Text("method"), Params: doc.Get("params")}
			if !rpc {
				call.Body = e.Document
			}
			var req *Request
			if req, err = openCall(c, call); err == nil {
				body, typ = req.Raw, req.Type
				m, err = req.Decode()
			}
		default:
			if rpc {
				body = doc.Get("result")
				typ = protocol.Type(parsed(t, body).Text("message_type"))
			}
			m, err = c.ReadAnswer(sentFor(typ), Answer{Raw: body})
		}
		if err != nil || m.Head().MessageType != typ || m.Head().Flaw != nil {
			t.Errorf("%s %s: %+v, %v", e.Source, e.Section, m, err)
			continue
		}
		again, err := protocol.Encode(m)
		if want, got := canonical(t, body), canonical(t, again); err != nil || want != got {
			t.Errorf("%s %s changes when it is read and written, %v:\n%s\n%s", e.Source, e.Section, err, want, got)
		}
	}
}

// peerExamples holds a registration in every dialect that no source describes.
const peerExamples = "../../docs/protocol/peers"

// TestPeerExamples holds an example of every wild dialect to the codec, and the
// codec to recognising it among all dialects; with -update it rewrites them.
func TestPeerExamples(t *testing.T) {
	t.Parallel()
	m := named(t, "league_register_request").message.(*protocol.LeagueRegisterRequest)
	for _, d := range known[len(OfProtocol()):] {
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
			req, err := opens(NewCodec(mode), doc.Text("method"), doc.Get("params"))
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
		if got.MatchID != want.MatchID || got.PlayerAID != want.PlayerAID || got.PlayerBID != want.PlayerBID ||
			got.PlayerAEndpoint != want.PlayerAEndpoint || got.PlayerBEndpoint != want.PlayerBEndpoint {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := opens(NewCodec(protocol.Tolerant), "start_match", []byte(`{"players":[]}`)); CodeOf(err) != protocol.CodeMissingField {
		t.Errorf("a match without an id: %v", err)
	}
	for registration, want := range map[string]string{
		`{"referee_meta":{"display_name":"x","tools":[{"name":"report"},{"name":"RUN_MATCH"}]}}`: "hands-out-by-RUN_MATCH",
		`{"referee_meta":{"display_name":"RUN_MATCH"}}`:                                          "",
	} {
		if got := AssignmentTrait(jsontext.Value(registration)); got != want {
			t.Errorf("%s suggests %q", registration, got)
		}
	}
	if handed := Contracts.With("hands-out-by-RUN_MATCH"); handed.Assignment != "RUN_MATCH" || handed.Name != "contracts+hands-out-by-RUN_MATCH" {
		t.Errorf("the trait gives %+v", handed)
	}
}

// An answer that is both can be read by those who look for a result and by
// those who look for params; a refusal is only a refusal.
func TestAnswersThatAreBoth(t *testing.T) {
	t.Parallel()
	r, err := NewCodec(protocol.Tolerant).Open(&jsonrpc.Request{Method: "game_invitation", ID: []byte("1"), Params: []byte(`{"message_type":"GAME_INVITATION","match_id":"R1M1"}`)})
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

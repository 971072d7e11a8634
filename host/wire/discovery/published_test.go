package discovery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// TestReadTools: tools are objects or bare names; what is neither is left out, and so
// is what a peer lists beyond all measure.
func TestReadTools(t *testing.T) {
	t.Parallel()
	tools, ok := discovery.ReadTools([]byte(`{"tools":["register_player",{"name":"handle_game_invitation","parameters":{"properties":{"match_id":{}}}},
		{"title":"no name"},7,null]}`))
	if want := []string{"register_player", "handle_game_invitation"}; !ok || !slices.Equal(tools.Names(), want) {
		t.Errorf("%v %q, want %q", ok, tools.Names(), want)
	}
	if !tools[0].Input.Empty() || tools[1].Input.Empty() {
		t.Errorf("their schemas are %+v", tools)
	}
	if tool, found := tools.For(protocol.TypeGameInvitation); !found || tool.Name != "handle_game_invitation" {
		t.Errorf("%+v takes invitations", tool)
	}
	if tool, found := tools.For(protocol.TypeGameOver); found {
		t.Errorf("%+v takes results", tool)
	}
	long := `{"tools":["a"` + strings.Repeat(`,"b"`, 500) + `]}`
	if tools, _ := discovery.ReadTools([]byte(long)); len(tools) != 200 {
		t.Errorf("%d tools of 501 are read, want 200", len(tools))
	}
	for _, text := range []string{``, `[]`, `{}`, `{"tools":{}}`} {
		if tools, ok := discovery.ReadTools([]byte(text)); ok {
			t.Errorf("%q lists %+v", text, tools)
		}
	}
}

// TestOperations: a path says by its body, its parameters and its name what it takes.
func TestOperations(t *testing.T) {
	t.Parallel()
	operations, ok := discovery.ReadOpenAPI([]byte(`{"paths":{
		"/mcp":{"post":{}},
		"/rpc":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{"method":{},"params":{}}}}}}}},
		"/api/v1/messages":{"post":{"summary":"Any message"}},
		"/join":{"post":{"parameters":[{"in":"query","name":"team","required":true,"schema":{"type":"string"}},{"in":"query","name":"url"},{"in":"header","name":"x"},7]}},
		"/players/{id}":{"post":{}},
		"/enter":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/R"}}}}}},
		"relative":{"post":{}},
		"/standings":{"get":{}}},"components":{"schemas":{"R":{"type":"object","properties":{"name":{"type":"string"}}}}}}`))
	if !ok {
		t.Fatal("it is not read")
	}
	type kind struct{ General, Registers bool }
	got := make(map[string]kind)
	for _, o := range operations {
		got[o.Path] = kind{o.General(), o.Fit(protocol.TypeLeagueRegisterRequest) > 0}
	}
	if diff := cmp.Diff(map[string]kind{
		"/mcp": {General: true}, "/rpc": {General: true}, "/api/v1/messages": {General: true}, "/join": {Registers: true}, "/enter": {Registers: true},
	}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	i := slices.IndexFunc(operations, func(o discovery.Operation) bool { return o.Path == "/join" })
	query := operations[i].Query.Fill(object(t, registration)).Encode()
	if !rawjson.Equal(query, []byte(`{"team":"Ada","url":"http://127.0.0.1:8104/mcp"}`)) {
		t.Errorf("its parameters are %s", query)
	}
	body := operations[i+1].Body.Fill(object(t, registration)).Encode()
	if !rawjson.Equal(body, []byte(`{"name":"Ada"}`)) {
		t.Errorf("the body by a reference is %s", body)
	}
	for _, text := range []string{``, `[]`, `{"paths":[]}`, `<html>`} {
		if operations, ok := discovery.ReadOpenAPI([]byte(text)); ok && len(operations) > 0 {
			t.Errorf("%q describes %+v", text, operations)
		}
	}
	if !operations[0].Query.Empty() {
		t.Error("/mcp has parameters")
	}
}

// TestNamed: a refusal in prose often says what to call instead.
func TestNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`Unknown method. Available: register_player, get_standings, league.register-team`: {"register_player", "league.register-team"},
		`POST it to /api/register_player/.`:                                               {"api/register_player"},
		`you must register first`:                                                         nil, // one word names nothing
		``:                                                                                nil,
		"join_a join_b join_c join_d":                                                     {"join_a", "join_b", "join_c"},
	} {
		if diff := cmp.Diff(want, protocol.NamesIn(text, protocol.TypeLeagueRegisterRequest)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// TestFitTellsMessagesApart: names that programs were seen to use, and others of
// the same words, belong to one message each.
func TestFitTellsMessagesApart(t *testing.T) {
	t.Parallel()
	types := []protocol.Type{
		protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest, protocol.TypeGameInvitation,
		protocol.TypeChooseParityCall, protocol.TypeGameOver, protocol.TypeLeagueStandingsUpdate,
	}
	for name, want := range map[string]protocol.Type{
		"register_player": protocol.TypeLeagueRegisterRequest, "registerPlayer": protocol.TypeLeagueRegisterRequest,
		"register_referee":        protocol.TypeRefereeRegisterRequest,
		"receive_game_invitation": protocol.TypeGameInvitation, "game_invitation": protocol.TypeGameInvitation, "onInvitation": protocol.TypeGameInvitation,
		"chooseParity": protocol.TypeChooseParityCall, "ChooseParity": protocol.TypeChooseParityCall, "choose-parity": protocol.TypeChooseParityCall,
		"choose.parity": protocol.TypeChooseParityCall, "CHOOSE_PARITY": protocol.TypeChooseParityCall, "/choose/parity/": protocol.TypeChooseParityCall,
		"parity_choose": protocol.TypeChooseParityCall, "choose_parity": protocol.TypeChooseParityCall, "receive_parity_call": protocol.TypeChooseParityCall,
		"notify_match_result": protocol.TypeGameOver, "game_over": protocol.TypeGameOver,
		"notify_standings": protocol.TypeLeagueStandingsUpdate, "update_standings": protocol.TypeLeagueStandingsUpdate,
	} {
		best := slices.MaxFunc(types, func(a, b protocol.Type) int { return protocol.Fit(name, a) - protocol.Fit(name, b) })
		if best != want || protocol.Fit(name, want) <= 0 {
			t.Errorf("%s fits %s best (%d), want %s (%d)", name, best, protocol.Fit(name, best), want, protocol.Fit(name, want))
		}
	}
	if fit := protocol.Fit("health", protocol.TypeLeagueRegisterRequest); fit > 0 {
		t.Errorf("health fits a registration: %d", fit)
	}
}

package discovery_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// registration is what a player sends to register.
const registration = `{"protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:P04","conversation_id":"c1",
	"player_meta":{"display_name":"Ada","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://127.0.0.1:8104/mcp"}}`

// TestFill: what a manager's schema asks for is given as it asks for it.
func TestFill(t *testing.T) {
	t.Parallel()
	const meta = `{"display_name":"Ada","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://127.0.0.1:8104/mcp"}`
	for name, c := range map[string]struct{ schema, want string }{
		"flat":                      {`{"properties":{"display_name":{"type":"string"},"contact_endpoint":{"type":"string"}}}`, `{"display_name":"Ada","contact_endpoint":"http://127.0.0.1:8104/mcp"}`},
		"by the words of names":     {`{"properties":{"playerCallbackUrl":{"type":"string"},"bot_name":{"type":"string"},"league_name":{"type":"string"},"games_played":{"type":"array"},"manager_url":{"type":"string"}}}`, `{"playerCallbackUrl":"http://127.0.0.1:8104/mcp","bot_name":"Ada","games_played":["even_odd"]}`},
		"host and port":             {`{"properties":{"host":{"type":"string"},"port":{"type":"integer"}}}`, `{"host":"127.0.0.1","port":8104}`},
		"the port as text":          {`{"properties":{"port":{"type":"string"}}}`, `{"port":"8104"}`},
		"what the sender says":      {`{"properties":{"agent_type":{"type":"string"},"player_id":{"type":"string"}}}`, `{"agent_type":"player","player_id":"P04"}`},
		"what it is, nested":        {`{"properties":{"player_meta":{"type":"object"}}}`, `{"player_meta":` + meta + `}`},
		"the same, declared":        {`{"properties":{"player_meta":{"type":"object","properties":{"name":{"type":"string"}}}}}`, `{"player_meta":{"name":"Ada"}}`},
		"an object of another name": {`{"properties":{"info":{"type":"object"}}}`, `{"info":` + meta + `}`},
		"by reference":              {`{"properties":{"agent":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"type":"object","properties":{"url":{"type":"string"}}}}}`, `{"agent":{"url":"http://127.0.0.1:8104/mcp"}}`},
		"text or null":              {`{"properties":{"name":{"type":["null","string"]},"version":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`, `{"name":"Ada","version":"1.0.0"}`},
		"the first of a list":       {`{"properties":{"game_type":{"type":"string"}}}`, `{"game_type":"even_odd"}`},
		"a list of one":             {`{"properties":{"name":{"type":"array"}}}`, `{"name":["Ada"]}`},
		"an enumeration's spelling": {`{"properties":{"game_type":{"type":"string","enum":["CHESS","EVEN_ODD"]}}}`, `{"game_type":"EVEN_ODD"}`},
		"a constant":                {`{"properties":{"protocol":{"const":"league.v2","type":"string"}}}`, `{"protocol":"league.v2"}`},
		"its defaults":              {`{"properties":{"lives":{"type":"integer","default":3}},"required":["lives"]}`, `{"lives":3}`},
		"nothing to say":            {`{"properties":{"a":{"type":"array"},"b":{"type":"boolean"},"c":{"type":"number"},"d":{"type":"string"},"e":{"type":"object"},"f":{"type":"string"}},"required":["a","b","c","d","e"]}`, `{"a":[],"b":true,"c":1,"d":"","e":{}}`},
		"what it cannot have":       {`{"properties":{"name":{"type":"integer"},"version":{"type":"boolean"}}}`, `{}`},
		"a message as a whole":      {`{"properties":{"extra":{"type":"string"},"message":{"type":"object","properties":{}}}}`, ``}, // the message itself
	} {
		want := c.want
		if want == "" {
			want = `{"message":` + registration + `}`
		}
		got := discovery.NewSchema([]byte(c.schema)).Fill(object(t, registration)).Encode()
		if !rawjson.Equal(got, []byte(want)) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func object(t testing.TB, text string) rawjson.Object {
	t.Helper()
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestAdd: a refusal that names missing members gets those that the message has
// something for, and keeps what is there.
func TestAdd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		object string
		names  []string
		want   string
	}{
		{`{}`, nil, `{}`},
		{`{"name":"Bo"}`, []string{"name", "endpoint", "shoe_size"}, `{"name":"Bo","endpoint":"http://127.0.0.1:8104/mcp"}`},
		{`{}`, []string{"metadata"}, `{"metadata":{"display_name":"Ada","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://127.0.0.1:8104/mcp","name":"Ada","endpoint":"http://127.0.0.1:8104/mcp"}}`},
		{`{}`, []string{"payload"}, `{"payload":` + registration + `}`},
	} {
		if got := discovery.Add(object(t, c.object), object(t, registration), c.names).Encode(); !rawjson.Equal(got, []byte(c.want)) {
			t.Errorf("%s with %q is %s, want %s", c.object, c.names, got, c.want)
		}
	}
}

// mostBytes is more than any answer to a registration has to hold.
const mostBytes = 1 << 20

// FuzzFill: whatever a peer publishes as its schema, filling it in ends soon, with an
// object of a bounded size that has what the schema requires.
func FuzzFill(f *testing.F) {
	many := strings.Repeat(`"p%d":{"$ref":"#/$defs/n"},`, 40)
	for i := range 40 {
		many = strings.Replace(many, "%d", strconv.Itoa(i), 1)
	}
	for _, schema := range []string{
		`{"properties":{"name":{"type":"string"}},"required":["name"]}`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{` + many + `"z":{"type":"string"}},"required":["p0","p1"]}}}`,
		`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}]}},"required":["a"]}`,
		`{"properties":{"player_meta":{"properties":{"game_types":{"type":"string","enum":[]}}}}}`,
		`{"properties":[1],"required":{}}`, `{"$ref":"#/$ref"}`, `[]`, ``,
	} {
		f.Add([]byte(schema), []byte(registration))
	}
	f.Fuzz(func(t *testing.T, schema, message []byte) {
		// Both are JSON: what peers send is parsed before. A member may hold the whole message.
		doc, err := rawjson.Parse(message)
		if len(schema) > 1<<13 || len(message) > 1<<10 || !json.Valid(schema) || err != nil {
			return
		}
		got := discovery.NewSchema(schema).Fill(doc).Encode()
		if !json.Valid(got) || len(got) > mostBytes {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
	})
}

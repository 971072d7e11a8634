package trace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestMask(t *testing.T) {
	t.Parallel()
	const token = "tok-P01-0123456789abcdef0123456789abcdef"
	for _, c := range []struct{ name, body, want string }{
		{"no secret stays byte for byte", `{ "a" : 1.0, "b":"x" }`, `{ "a" : 1.0, "b":"x" }`},
		{"a token", `{"auth_token":"` + token + `", "x":1}`, `{"auth_token":"tok-P01-masked-1", "x":1}`},
		{"the same token twice", `{"auth_token":"abcdefgh","token":"abcdefgh"}`, `{"auth_token":"masked-1","token":"masked-1"}`},
		{"two tokens", `{"auth_token":"a","token":"b"}`, `{"auth_token":"masked-1","token":"masked-2"}`},
		{"match keys", `{"player_A_keys":{"send":"s","expect":"e"}}`, `{"player_A_keys":{"send":"masked-1","expect":"masked-2"}}`},
		{"in a sentence", `{"detail":"the token ` + token + ` is wrong"}`, `{"detail":"the token tok-P01-masked-1 is wrong"}`},
		{"known from another member", `{"auth_token":"hunter2hunter2","detail":"hunter2hunter2?"}`, `{"auth_token":"masked-1","detail":"masked-1?"}`},
		{"short ones elsewhere stay", `{"auth_token":"1","n":1,"round":"1"}`, `{"auth_token":"masked-1","n":1,"round":"1"}`},
		{"JSON in a string", `{"text":"{\"auth_token\":\"abc\"}"}`, `{"text":"{\"auth_token\":\"masked-1\"}"}`},
		{"escaped", `{"auth_tok\u0065n":"a\u0062c"}`, `{"auth_tok\u0065n":"masked-1"}`},
		{"no JSON", `{"auth_token": "abc", oops`, `{"auth_token": "masked-1", oops`},
		{"no UTF-8 elsewhere", "{\"x\":\"\xff\",\"api_key\":\"abc\"}", "{\"x\":\"\xff\",\"api_key\":\"masked-1\"}"},
		{"no string", `{"auth_token":null,"token":7}`, `{"auth_token":null,"token":7}`},
		{"an array of names", `["auth_token","x"]`, `["auth_token","x"]`},
		{"empty", ``, ``},
	} {
		if got := string(newMasker().mask([]byte(c.body))); got != c.want {
			t.Errorf("%s: %s became %s, want %s", c.name, c.body, got, c.want)
		}
	}
}

// A masker knows a secret again in later messages.
func TestMaskRemembers(t *testing.T) {
	t.Parallel()
	m := newMasker()
	m.mask([]byte(`{"auth_token":"first-secret"}`))
	m.mask([]byte(`{"auth_token":"second-secret"}`))
	if got := string(m.mask([]byte(`{"auth_token":"first-secret","why":"not second-secret"}`))); got != `{"auth_token":"masked-1","why":"not masked-2"}` {
		t.Error(got)
	}
}

// Whatever comes, no token of the league's own shape survives, and JSON stays
// JSON.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"auth_token":"%","x":"%"}`))
	f.Add([]byte(`{"text":"{\"auth_token\":\"%\"}"}`))
	f.Add([]byte(`% [1,{"a":"\u0025"}`))
	f.Add([]byte("{\"token\":\"\xff%\"}"))
	const token = "tok-REF01-0123456789abcdefABCDEF0123456789"
	f.Fuzz(func(t *testing.T, body []byte) {
		body = bytes.ReplaceAll(body, []byte("%"), []byte(" "+token+" "))
		valid := jsontext.Value(body).IsValid()
		out := newMasker().mask(body)
		if strings.Contains(string(out), token) {
			t.Errorf("%q still holds the token: %q", body, out)
		}
		if valid && !jsontext.Value(out).IsValid() {
			t.Errorf("%q became %q, which is no JSON", body, out)
		}
	})
}

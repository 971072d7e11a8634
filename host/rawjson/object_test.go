package rawjson_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

func parse(t *testing.T, text string) rawjson.Object {
	t.Helper()
	object, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func names(o rawjson.Object) (all []string) {
	for _, m := range o {
		all = append(all, m.Name)
	}
	return all
}

// TestParseRefuses: what peers send may be anything.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[]`, `"text"`, `7`, `null`, ` true `} {
		if object, err := rawjson.Parse([]byte(text)); !errors.Is(err, rawjson.ErrNoObject) {
			t.Errorf("%s is read as %v, %v; want ErrNoObject", text, object, err)
		}
		if object := rawjson.Split([]byte(text)); object != nil {
			t.Errorf("%s is split into %v", text, object)
		}
	}
	for what, text := range map[string]string{
		"nothing": ``, "an open object": `{"a":1`, "a second value": `{} {}`, "text behind": `{}x`, "a comma": `{"a":1,}`, "no quotes": `{a:1}`,
		"a name twice": `{"a":1,"a":2}`, "a name twice within": `{"a":{"b":1,"b":2}}`, "a name twice, spelt otherwise": "{\"a\":1,\"\\u0061\":2}",
		"no UTF-8": "{\"a\":\"\xff\"}", "half a surrogate": `{"a":"\ud800"}`, "a control character": "{\"a\":\"\n\"}", "a number of two parts": `{"a":1 2}`,
		"a leading zero": `{"a":01}`, "too deep": `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		if object, err := rawjson.Parse([]byte(text)); err == nil || errors.Is(err, rawjson.ErrNoObject) {
			t.Errorf("%s: %.40q is read as %v, %v; want an error of its syntax", what, text, object, err)
		}
	}
}

// TestObject: members keep their order and bytes, whatever is done to the others.
func TestObject(t *testing.T) {
	t.Parallel()
	o := parse(t, ` { "b" : 1.50 , "a":"x\u0041", "list":[1, 2], "none":null } `)
	if got := string(o.Encode()); got != `{"b":1.50,"a":"x\u0041","list":[1, 2],"none":null}` {
		t.Errorf("it is written as %s", got)
	}
	if got := o.Text("a"); got != "xA" {
		t.Errorf("its text is %q", got)
	}
	for _, name := range []string{"b", "list", "none", "missing"} {
		if got := o.Text(name); got != "" {
			t.Errorf("%s is no text, but %q", name, got)
		}
	}
	if got := o.Get("missing"); got != nil {
		t.Errorf("a missing member is %s", got)
	}
	if got := string(o.Get("missing", "list", "b")); got != "[1, 2]" {
		t.Errorf("the first of them is %s", got)
	}
	if got := o.Get(); got != nil {
		t.Errorf("the first of none is %s", got)
	}
	without := o.Without("a", "missing", "none")
	if got := names(without); !slices.Equal(got, []string{"b", "list"}) {
		t.Errorf("without two of them it has %q", got)
	}
	if got := names(o); !slices.Equal(got, []string{"b", "a", "list", "none"}) {
		t.Errorf("after Without the object itself has %q", got)
	}
	o = o.Set("b", rawjson.Bool(true)).Set("new", rawjson.Quote("\"\\\n\u2028"))
	if got := string(o.Encode()); got != `{"b":true,"a":"x\u0041","list":[1, 2],"none":null,"new":"\"\\\n`+"\u2028"+`"}` {
		t.Errorf("it is written as %s", got)
	}
	if got := string(rawjson.Object(nil).Encode()); got != "{}" {
		t.Errorf("an object without members is written as %s", got)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`100`, `1e2`, true}, {`-0`, `0`, true}, {`1`, `2`, false}, {`1`, `"1"`, false},
		{`"A"`, "\"\\u0041\"", true}, {`"a"`, `"A"`, false}, {`"\/"`, `"/"`, true}, {`""`, `null`, false},
		{`[1, 2]`, `[1,2.0]`, true}, {`[1,2]`, `[2,1]`, false}, {`[1]`, `[1,1]`, false}, {`[]`, `{}`, false},
		{`{"a":1,"b":[true]}`, `{ "b" : [ true ], "a" : 1.0 }`, true}, {`{"a":1}`, `{"a":1,"b":2}`, false}, {`{"a":null}`, `{}`, false},
		{`true`, `true`, true}, {`true`, `false`, false}, {`null`, `null`, true},
	} {
		if got := rawjson.Equal(jsontext.Value(c.a), jsontext.Value(c.b)); got != c.want {
			t.Errorf("%s equals %s: %v", c.a, c.b, got)
		}
		if got := rawjson.Equal(jsontext.Value(c.b), jsontext.Value(c.a)); got != c.want {
			t.Errorf("%s equals %s: %v", c.b, c.a, got)
		}
	}
}

// FuzzText: a text survives being written and read, and is written as encoding/json reads it.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "plain", "\"\\/\b\f\n\r\t", "\u0000\u001f\u007f\u0080", "ünï", "\u2028\u2029", "😀", "</script>", `\u0041`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		quoted := rawjson.Quote(text)
		var other string
		if err := json.Unmarshal(quoted, &other); err != nil || other != text {
			t.Errorf("%q is written as %s, which is %q, %v", text, quoted, other, err)
		}
		if got := string(rawjson.Text(quoted)); got != text {
			t.Errorf("%q is read back as %q", text, got)
		}
		escaped, err := json.Marshal(text) // with other escapes
		if err != nil {
			t.Fatal(err)
		}
		if got := string(rawjson.Text(escaped)); got != text {
			t.Errorf("%s is read as %q, want %q", escaped, got, text)
		}
	})
}

func TestTextOfWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`1`, `null`, `["a"]`, `{"a":"b"}`, `true`, ``} {
		if got := rawjson.Text(jsontext.Value(text)); got != nil {
			t.Errorf("the text of %s is %q", text, got)
		}
	}
}

package kit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// FuzzReadAnswer reads whatever an agent may answer.
func FuzzReadAnswer(f *testing.F) {
	examples, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "protocol", "examples", "*", "*.json"))
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, name := range examples {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(200, body)
	}
	for _, body := range []string{
		"", "null", "[]", "{", `{"result":null}`, `{"error":null,"result":"{}"}`, `{"error":"no"}`, `{"error":{"code":"x","data":[]}}`,
		`{"result":{"content":[{"text":"{\"a\":1}"}],"isError":true}}`, `{"result":{"content":[]}}`, `{"result":{"structuredContent":7}}`,
		`{"method":"game_join_ack","params":{"accept":true}}`, `{"status":"error"}`, "\xff",
	} {
		f.Add(500, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := kit.ReadAnswer(kit.Reply{Status: status, Body: body})
		if a.String() == "" {
			t.Errorf("nothing is said of %q", body)
		}
		if a.Document == nil && (a.Message != nil || a.Refused != a.Plain) {
			t.Errorf("%q is no JSON object and has a message %v, refused %v", body, a.Message, a.Refused)
		}
		if a.Message != nil && a.Wrapping == "" {
			t.Errorf("the message in %q is in no wrapping", body)
		}
	})
}

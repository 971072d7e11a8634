package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

var update = flag.Bool("update", false, "rewrite the golden log")

// answer is what matters of an error.
type answer struct {
	Error struct {
		Code int
		Data struct {
			Canonical  string
			ErrorCode  string `json:"error_code"`
			Violations []protocol.Violation
		}
	}
}

func (a answer) String() string {
	code := a.Error.Data.Canonical
	if code == "" {
		code = a.Error.Data.ErrorCode
	}
	s := fmt.Sprintf("%d %s", a.Error.Code, code)
	for _, v := range a.Error.Data.Violations {
		s += " " + v.Path + ":" + v.Rule
	}
	return strings.TrimSpace(s)
}

// TestInvalidInputsAreTheSameOverBoth drives the table of invalid inputs
// through a socket and through pipes: the answers are the same to the byte, and
// so are the records of the log but for what tells the transports apart.
func TestInvalidInputsAreTheSameOverBoth(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]struct {
		cfg    wire.Config
		inputs []invalid
	}{
		"strict":   {wire.Config{Strict: true}, strictInputs},
		"league":   {wire.Config{}, leagueInputs},
		"tolerant": {wire.Config{Tolerant: true}, tolerantInputs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serveBoth(t, table.cfg)
			for _, in := range table.inputs {
				status, overHTTP := b.http(t, in.body)
				overStdio := b.stdio(t, in.body)
				if overHTTP != overStdio {
					t.Errorf("%s:\n HTTP %s\nSTDIO %s", in.name, overHTTP, overStdio)
				}
				var got answer
				if err := json.Unmarshal([]byte(overHTTP), &got); err != nil {
					t.Fatalf("%s: %s: %v", in.name, overHTTP, err)
				}
				if status != in.status || got.String() != in.want {
					t.Errorf("%s: %d %s\nwant %d %s\n%s", in.name, status, got, in.status, in.want, overHTTP)
				}
				if strings.Contains(overHTTP, "tok-") {
					t.Errorf("%s: the answer has a value of the input: %s", in.name, overHTTP)
				}
			}
			b.closed()
			log := readLog(t, b.log)
			checkParity(t, table.inputs, log)
			golden(t, filepath.Join("testdata", name+".jsonl"), log)
		})
	}
}

// checkParity holds the records of a log, HTTP and STDIO in turns, to each other.
func checkParity(t *testing.T, inputs []invalid, log []byte) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	if len(lines) != 2*len(inputs) {
		t.Fatalf("%d records of %d requests", len(lines), 2*len(inputs))
	}
	if bytes.Contains(log, []byte("tok-")) {
		t.Error("the log has a token or another value of an input")
	}
	for i, in := range inputs {
		var pair [2]map[string]any
		for k := range pair {
			if err := json.Unmarshal(lines[2*i+k], &pair[k]); err != nil || pair[k]["http_status"] != float64(in.status) || pair[k]["error"] == nil {
				t.Errorf("%s: the record is %s, %v", in.name, lines[2*i+k], err)
			}
			for _, name := range []string{"timestamp", "ids", "transport", "route", "duration_ms"} { // which the golden log has
				delete(pair[k], name)
			}
		}
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: the records differ (-HTTP +STDIO):\n%s", in.name, diff)
		}
	}
}

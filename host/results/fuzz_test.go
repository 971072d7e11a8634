package results_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/results"
)

func FuzzDecode(f *testing.F) {
	for _, draw := range draws {
		plan := testPlan(3, 2, 4, draw)
		f.Add(encode(f, plan, randomLeagues(f, plan, 4)))
	}
	f.Add([]byte("SLLEAGUE"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dec, err := results.NewDecoder(bytes.NewReader(b))
		if err != nil {
			return
		}
		for {
			at := dec.Offset()
			l, err := dec.Decode()
			if err != nil {
				return
			}
			// What is accepted can be written again and reads the same.
			var buf bytes.Buffer
			enc, err := results.NewEncoder(&buf, dec.Header())
			must(t, err)
			if err := enc.Encode(l); err != nil {
				t.Fatalf("league at byte %d was read but cannot be written: %v", at, err)
			}
			again, err := decodeAll(&buf)
			must(t, err)
			if diff := cmp.Diff([]*results.League{clone(l)}, []*results.League{clone(again[0])}); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// FuzzDecodePayload gets past the checksum, which FuzzDecode rarely does.
func FuzzDecodePayload(f *testing.F) {
	plan := testPlan(3, 2, 4, "")
	empty := len(encode(f, plan, nil))
	for _, l := range randomLeagues(f, plan, 4) {
		b := encode(f, plan, []*results.League{l})
		f.Add(b[empty+4 : len(b)-4])
	}
	prefix := encode(f, plan, nil)
	f.Fuzz(func(t *testing.T, payload []byte) {
		b := results.Frame(bytes.Clone(prefix), payload)
		got, err := decodeAll(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := decodeAll(bytes.NewReader(encode(t, plan, got)))
		must(t, err)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What is accepted as a plan.json is valid, can be written, and reads the same;
// what is not is refused with the name of the file, on one line.
func FuzzPlan(f *testing.F) {
	plan := testPlan(3, 2, 4, "weights:1=1,2=3")
	old, stopped, compared := plan, plan, plan
	old.Schema = results.PlanSchema1
	stopped.Stop = &results.Stop{Until: "precision=0.005", Guarantee: "finite", Margin: 0.01}
	compared.Stop = &results.Stop{Ratio: &results.Ratio{New: plan.Field[0].Name, Old: plan.Field[1].Name, Delta: 0.01, Alpha: 0.05, Beta: 0.1}}
	for _, p := range []results.Plan{plan, old, stopped, compared} {
		b, err := json.Marshal(p)
		must(f, err)
		f.Add(b)
		for _, swap := range [][2]string{
			{`"runs":4`, `"runs":-4`}, {`"seed":"7"`, `"seed":7`}, {`"seed":"7"`, `"seed":"18446744073709551616"`}, {`"draw":"weights:1=1,2=3"`, `"draw":"weights:1=1e9"`},
			{`random#1`, `x<b>y.js`}, {`random#2`, "q\\\"r\\u202e\\n.js"}, {`random#3`, "random#1"}, {`}`, ``}, {`"field"`, `"FIELD"`},
			{`"runs":4`, `"runs":4,"runs":5`}, {`}]}`, `}]} {}`}, {`"legs":2`, `"legs":2,"more":1`},
		} {
			f.Add([]byte(strings.ReplaceAll(string(b), swap[0], swap[1])))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), results.PlanFile)
		read := func(b []byte) (results.Plan, error) {
			must(t, os.WriteFile(path, b, 0o600))
			return results.ReadPlan(path)
		}
		p, err := read(b)
		if err != nil {
			if text := err.Error(); !strings.Contains(text, path) || strings.ContainsAny(text, "\n\r\x1b\u202e") {
				t.Fatalf("error %q, want one line with the file", text)
			}
			return
		}
		if _, err := results.HeaderOf(p); err != nil {
			t.Fatalf("accepted, but without a header: %v", err)
		}
		written, err := json.Marshal(p)
		must(t, err)
		again, err := read(written)
		if err != nil {
			t.Fatalf("accepted once, but not as it was written: %v\n%s", err, written)
		}
		if diff := cmp.Diff(p, again); diff != "" || p.Hash() != again.Hash() || p.SameLeagues(again) != nil {
			t.Fatalf("read again (-first +second):\n%s", diff)
		}
	})
}

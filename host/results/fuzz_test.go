package results_test

import (
	"bytes"
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
			if err != nil {
				t.Fatal(err)
			}
			if err := enc.Encode(l); err != nil {
				t.Fatalf("league at byte %d was read but cannot be written: %v", at, err)
			}
			again, err := decodeAll(&buf)
			if err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

package results_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/strategylab/strategylab/host/results"
)

func BenchmarkDecode(b *testing.B) {
	plan := testPlan(18, 10, 64, "")
	file := encode(b, plan, randomLeagues(b, plan, 64))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		dec, err := results.NewDecoder(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		for {
			l, err := dec.Decode()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += len(l.Matches)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/match")
}

func BenchmarkEncode(b *testing.B) {
	plan := testPlan(18, 10, 64, "")
	leagues := randomLeagues(b, plan, 64)
	enc, err := results.NewEncoder(io.Discard, header(b, plan))
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		for _, l := range leagues {
			if err := enc.Encode(l); err != nil {
				b.Fatal(err)
			}
			n += len(l.Matches)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/match")
}

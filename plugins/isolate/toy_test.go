package isolate_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// toy is a language for scripts that no guard in the process can hold. Its
// source is a word: what a seat in eight does in its sixth round.
func toy() catalog.Format {
	return catalog.Format{Ext: ".toy", Kind: "toy", Load: func(_ context.Context, name, path string, source []byte, _ budget.Limits) (strategies.Factory, error) {
		how := strings.TrimSpace(string(source))
		if how == "unloadable" {
			return nil, &strategies.Error{Source: path, Line: 7, Op: strategies.OpLoad, Err: fmt.Errorf("no %s", name), Hint: "none"}
		}
		if mark, ok := strings.CutPrefix(how, "die once "); ok {
			if err := os.Mkdir(mark, 0o700); err == nil {
				os.Exit(9)
			}
		}
		if how == "die at load" {
			os.Exit(9)
		}
		return &toyFactory{how: how, name: name, path: path}, nil
	}}
}

type toyFactory struct{ how, name, path string }

func (f *toyFactory) Info() strategies.Info {
	return strategies.Info{Name: f.name, Kind: "toy", Source: f.path, Fingerprint: f.how}
}

func (f *toyFactory) Close() error { return nil }

func (f *toyFactory) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	bad := s.Key[0]%8 == 0
	if bad && f.how == "die at start" {
		os.Exit(9)
	}
	return &toySeat{how: f.how, bad: bad, sum: s.Key[1], setup: s}, nil
}

// toySeat chooses by everything it has received, so that a seat which was not
// rebuilt as it was is noticed.
type toySeat struct {
	how   string
	bad   bool
	sum   uint64
	setup strategies.Setup
}

func (s *toySeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.bad && t.Round == 6 {
		switch s.how {
		case "die":
			os.Exit(9)
		case "crash": // what the host makes of dying
			return 0, strategies.ErrCrashed
		case "eat":
			for hoard := [][]byte{}; ; {
				piece := make([]byte, 1<<20)
				for i := range piece {
					piece[i] = byte(i)
				}
				hoard = append(hoard, piece)
			}
		}
	}
	s.mix(t.Match, uint64(t.Played), uint64(t.Points), uint64(len(t.Opponent)), s.setup.Rand.Uint64())
	return strategies.Choice(s.sum >> 60 & 1), nil
}

func (s *toySeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if s.bad && o.Round == 6 && s.how == "die observing" {
		os.Exit(9)
	}
	s.mix(o.Match, uint64(o.Choice), uint64(o.OpponentChoice), uint64(o.Number), uint64(o.Points), s.setup.Rand.Uint64())
	return nil
}

func (s *toySeat) mix(words ...uint64) {
	for _, w := range words {
		s.sum = (s.sum ^ w) * 0x9e3779b97f4a7c15
		s.sum ^= s.sum >> 29
	}
}

func (s *toySeat) Close() error { return nil }

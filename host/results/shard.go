package results

import "fmt"

// Shard is a contiguous part of the leagues of a plan that is played by itself, as one job of many.
// Its folder is like that of a run, and leagues.bin begins with league First.
type Shard struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`     // number of shards
	First  int `json:"first"`  // index of its first league
	End    int `json:"end"`    // index after its last league
	// Quarantined are the field indices of the players that the shard takes for
	// quarantined before its first league, ascending.
	Quarantined []int `json:"quarantined"`
}

// String returns "shard 3/16".
func (s *Shard) String() string { return fmt.Sprintf("shard %d/%d", s.Number, s.Of) }

// Span returns the index of the first league of the plan, or of its shard, and the
// index after the last.
func (p Plan) Span() (first, end int) {
	if p.Shard == nil {
		return 0, p.Runs
	}
	return p.Shard.First, p.Shard.End
}

func (p Plan) validateShard() error {
	s := p.Shard
	if s == nil {
		return nil
	}
	if s.Number < 1 || s.Number > s.Of || s.First < 0 || s.First >= s.End || s.End > p.Runs {
		return fmt.Errorf("plan: %v with leagues %d to %d is not a part of %d leagues", s, s.First, s.End-1, p.Runs)
	}
	for i, field := range s.Quarantined {
		if field < 0 || field >= len(p.Field) || i > 0 && field <= s.Quarantined[i-1] {
			return fmt.Errorf("plan: %v quarantines player %d, want ascending field indices below %d", s, field, len(p.Field))
		}
	}
	if p.Stop != nil || p.Confirms != nil || p.Looks != nil {
		return fmt.Errorf("plan: %v has a stop, confirms or looks, which depend on the leagues of other shards", s)
	}
	return nil
}

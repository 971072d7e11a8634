package served

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// Fault is one kind of failure of an agent.
type Fault struct {
	Kind  string // as in game.Fault
	Count int
	Cause string // of the first
}

// Usage is how an agent has fared so far.
type Usage struct {
	Asked, Replayed int64 // choices, by the agent and by the cassette
	Missing         int64 // choices that the cassette of an offline run did not have
	Messages        int64
	Retries         int
	Starts          int           // processes, or conversations with an address
	Median, P99     time.Duration // of a match: announcement, invitation and choice
	Restarts        bool          // for each league
	Faults          []Fault       // most first
	Log             []string      // the last lines that a process wrote
}

// Usage reports how the agent has fared so far.
func (f *Factory) Usage() Usage {
	s := &f.stats
	s.mu.Lock()
	u := s.usage
	u.Median, u.P99 = s.quantile(0.5), s.quantile(0.99)
	u.Faults = nil
	for _, x := range s.faults {
		u.Faults = append(u.Faults, *x)
	}
	s.mu.Unlock()
	slices.SortFunc(u.Faults, func(a, b Fault) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind)) })
	u.Restarts = f.config.EachLeague
	f.starting.Lock()
	defer f.starting.Unlock()
	for _, a := range f.idle {
		if lines := a.output.lines(); lines != nil {
			u.Log = lines
		}
	}
	return u
}

// stats counts. It is safe for concurrent use.
type stats struct {
	mu     sync.Mutex
	usage  Usage
	faults map[string]*Fault
	times  map[int]int64 // matches by the logarithm of their time
}

// count changes what is counted.
func (s *stats) count(change func(*Usage)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.usage)
}

// chose counts an answer of the agent.
func (s *stats) chose(took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Asked++
	if s.times == nil {
		s.times = make(map[int]int64)
	}
	s.times[int(math.Log(float64(max(took, time.Microsecond)))*resolution)]++
	s.fault(err)
}

// replayed counts an answer of the cassette.
func (s *stats) replayed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Replayed++
	s.fault(err)
}

func (s *stats) fault(err error) {
	if err == nil {
		return
	}
	kind := strategies.FaultOf(err).String()
	x := s.faults[kind]
	if x == nil {
		x = &Fault{Kind: kind, Cause: strategies.OneLine(err.Error(), 400)}
		s.faults[kind] = x
	}
	x.Count++
}

// resolution is how many classes of times there are for a factor of e: each is 2 % wide.
const resolution = 50

// quantile returns the time within which a share of the matches were answered.
func (s *stats) quantile(share float64) time.Duration {
	var all, seen int64
	for _, n := range s.times {
		all += n
	}
	for _, class := range slices.Sorted(maps.Keys(s.times)) {
		if seen += s.times[class]; float64(seen) >= share*float64(all) {
			return time.Duration(math.Exp((float64(class) + 0.5) / resolution))
		}
	}
	return 0
}

package cluster

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Presence is what a worker says about itself, every few seconds.
type Presence struct {
	ID       string            `json:"id"`       // follows from its key; different for every process
	Seq      int64             `json:"seq"`      // grows with each message of a worker
	Name     string            `json:"name"`     // of the machine
	Cores    int               `json:"cores"`    // leagues it plays in parallel
	Protocol int               `json:"protocol"` // see Protocol
	Version  string            `json:"version"`  // of its program
	InFlight int               `json:"in_flight"`
	Chunks   []string          `json:"chunks"`            // that it has
	Playing  []string          `json:"playing,omitempty"` // those of them that it plays now
	Leagues  int64             `json:"leagues"`           // played since its start
	Rate     float64           `json:"leagues_per_second"`
	Refuses  map[string]string `json:"refuses"`          // runs that it cannot play, and why
	Plays    []string          `json:"plays"`            // runs that it has open
	Leaves   bool              `json:"leaves,omitempty"` // it ends

	Heard time.Time `json:"-"` // when the receiver last heard from it
}

// RunStatus is what a coordinator says about its run, every few seconds.
type RunStatus struct {
	Run         string  `json:"run"`
	Version     string  `json:"version"`
	Leagues     int     `json:"leagues"` // recorded
	Of          int     `json:"of"`
	Rate        float64 `json:"leagues_per_second"`  // lately
	Waiting     int     `json:"waiting"`             // chunks that no worker has yet
	InFlight    int     `json:"in_flight"`           // chunks that workers have
	Redelivered int     `json:"redelivered"`         // chunks that went to a worker more than once
	Failed      int     `json:"failed"`              // chunks that could not be played
	Abandoned   bool    `json:"abandoned,omitempty"` // the broker keeps it, and no experiment plays it
}

// Left returns the time to the last league at the present rate; 0 if it is unknown.
func (s RunStatus) Left() time.Duration {
	if s.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(s.Of-s.Leagues) / s.Rate * float64(time.Second))
}

// announceEvery is the longest interval of Presence and RunStatus.
const announceEvery = 2 * time.Second

// Bounds of what others may say about themselves.
const (
	mostCores = 1 << 14
	mostText  = 200 // bytes of a name or a reason that is printed
	mostRuns  = 64
	mostMet   = 4096 // workers or runs that are remembered
	mostRate  = 1e12 // leagues per second
	mostShown = 256  // chunks of a worker
)

// hearPresence returns what a worker says about itself, if it is the worker that it names
// and the figures can be.
func hearPresence(m *nats.Msg) (p Presence, ok bool) {
	if open(m, lastWord(m.Subject), &p) != nil || p.ID != lastWord(m.Subject) || p.Cores < 1 || p.Cores > mostCores ||
		p.InFlight < 0 || p.Leagues < 0 || !(p.Rate >= 0 && p.Rate <= mostRate) || len(p.Refuses) > mostRuns || len(p.Plays) > mostRuns {
		return p, false
	}
	p.Name, p.Version, p.Heard = plain(p.Name, mostText), plain(p.Version, mostText), time.Now()
	refuses := make(map[string]string, len(p.Refuses))
	for run, why := range p.Refuses {
		refuses[plain(run, mostText)] = plain(why, 2*mostText)
	}
	p.Refuses = refuses
	return p, true
}

// only returns what a worker says of one run and of some chunks: it may say more than
// anybody wants to remember.
func (p Presence) only(run string, chunk func(string) bool) Presence {
	several := func(list []string, ok func(string) bool) (short []string) {
		for _, text := range list {
			if ok(text) {
				short = append(short, strings.Clone(text))
			}
		}
		return short
	}
	p.Chunks, p.Playing = several(p.Chunks, chunk), several(p.Playing, chunk)
	p.Plays = several(p.Plays, func(text string) bool { return text == run })
	if why, ok := p.Refuses[run]; ok {
		p.Refuses = map[string]string{run: why}
	} else {
		p.Refuses = nil
	}
	return p
}

// hearRun returns what a coordinator says about its run, if the run is its own.
func hearRun(m *nats.Msg) (a announcement, ok bool) {
	run := lastWord(m.Subject)
	if open(m, idOfRun(run), &a) != nil || a.Run != run || plain(run, mostText) != run {
		return a, false
	}
	a.Version, a.Status.Run, a.Status.Version = plain(a.Version, mostText), plain(a.Run, mostText), plain(a.Version, mostText)
	if s := a.Status; s.Leagues < 0 || s.Of < s.Leagues || s.Waiting < 0 || s.InFlight < 0 || s.Redelivered < 0 || s.Failed < 0 || !(s.Rate >= 0) {
		return a, false
	}
	return a, true
}

// idOfRun returns the id of the coordinator of a run, which its name ends with.
func idOfRun(run string) string { return run[strings.LastIndexByte(run, '-')+1:] }

// tell publishes a signed value that is not stored; a broker that is away does not matter.
func (l *Link) tell(i *identity, v any, words ...string) {
	if m, err := i.seal(l.subject(words...), v, nil); err == nil {
		_ = l.conn.PublishMsg(m)
	}
}

// ping asks everybody to say what they do.
func (l *Link) ping() { _ = l.conn.Publish(l.subject("ping"), nil) }

// pings returns a channel that has a value when somebody has asked since it was last read.
// The caller ends the subscription.
func (l *Link) pings() (<-chan struct{}, *nats.Subscription, error) {
	asked := make(chan struct{}, 1)
	s, err := l.conn.Subscribe(l.subject("ping"), func(*nats.Msg) {
		select {
		case asked <- struct{}{}:
		default:
		}
	})
	return asked, s, err
}

// pingGap is the shortest time from one answer to the next: there may be a flood of pings.
const pingGap = 20 * time.Millisecond

// meter measures a rate over the last intervals. It is not safe for concurrent use.
type meter struct {
	at    time.Time
	total int64
	rate  float64
}

// add returns the rate after total at a time, smoothed.
func (m *meter) add(now time.Time, total int64) float64 {
	if m.at.IsZero() {
		m.at, m.total = now, total
		return 0
	}
	if d := now.Sub(m.at).Seconds(); d > 0 {
		rate := float64(total-m.total) / d
		if m.rate == 0 {
			m.rate = rate
		}
		m.rate += (rate - m.rate) / 2
		m.at, m.total = now, total
	}
	return m.rate
}

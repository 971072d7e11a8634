package cluster

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// Presence is what a worker says about itself, every few seconds.
type Presence struct {
	ID       string            `json:"id"`       // different for every process
	Name     string            `json:"name"`     // of the machine
	Cores    int               `json:"cores"`    // leagues it plays in parallel
	Protocol int               `json:"protocol"` // see Protocol
	Version  string            `json:"version"`  // of its program
	InFlight int               `json:"in_flight"`
	Chunks   []string          `json:"chunks"`             // that it plays now
	Leagues  int64             `json:"leagues"`            // played since its start
	Rate     float64           `json:"leagues_per_second"` // lately
	Refuses  map[string]string `json:"refuses"`            // runs that it cannot play, and why
	Plays    []string          `json:"plays"`              // runs that it has open

	Heard time.Time `json:"-"` // when the receiver last heard from it
}

// RunStatus is what a coordinator says about its run, every few seconds.
type RunStatus struct {
	Run         string  `json:"run"`
	Version     string  `json:"version"`
	Leagues     int     `json:"leagues"` // recorded
	Of          int     `json:"of"`
	Rate        float64 `json:"leagues_per_second"` // lately
	Waiting     int     `json:"waiting"`            // chunks that no worker has yet
	InFlight    int     `json:"in_flight"`          // chunks that workers have
	Redelivered int     `json:"redelivered"`        // chunks that went to a worker more than once, at the worst moment
	Failed      int     `json:"failed"`             // chunks that could not be played
}

// Left returns the time to the last league at the present rate; 0 if it is unknown.
func (s RunStatus) Left() time.Duration {
	if s.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(s.Of-s.Leagues) / s.Rate * float64(time.Second))
}

// announceEvery is the interval of Presence and RunStatus.
const announceEvery = 2 * time.Second

// silentAfter is the time after which a worker from which nothing came counts as gone.
const silentAfter = 4 * announceEvery

// tell publishes a value that is not stored; a broker that is away does not matter.
func (l *Link) tell(v any, words ...string) {
	if body, err := json.Marshal(v); err == nil {
		_ = l.conn.Publish(l.subject(words...), body)
	}
}

// hear subscribes to values of one type that are not stored. The caller ends it.
func hear[T any](l *Link, f func(T), words ...string) (*nats.Subscription, error) {
	return l.conn.Subscribe(l.subject(words...), func(m *nats.Msg) {
		var v T
		if json.Unmarshal(m.Data, &v) == nil {
			f(v)
		}
	})
}

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

package conformance

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// atOnce is how many matches are played at the same time.
const atOnce = 8

// inARow is how many matches are timed.
const inARow = 5

// loadChecks are about many messages, and slow ones.
func loadChecks() []Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []Check{
		{
			ID: "player.load.concurrent", Level: Must, Needs: append(needs, "player.join.match", "player.choice.match"),
			Rule:   "A player may be in several matches at once, and keeps them apart: each answer belongs to its own match (observed in real leagues).",
			Advice: "Keep what belongs to a match by match_id, and nothing of it in variables that all matches share.",
			run:    forPlayer(playsManyAtOnce),
		},
		{
			ID: "player.load.stalled", Level: Should, Needs: needs,
			Rule:   "A peer that sends slowly holds up nobody else: while one request is under way, others are answered.",
			Advice: "Serve requests concurrently; in Python, ThreadingHTTPServer in the place of HTTPServer.",
			run:    forPlayer(playsBesideASlowPeer),
		},
		{
			ID: "player.load.speed", Level: Should, Needs: append(needs, "player.over.ack"),
			Rule:   "Answers take at most a quarter of their deadline, so that a busy machine loses no match.",
			Advice: "Decide faster, or beforehand; do slow work after the answer was sent.",
			run:    forPlayer(answersFast),
		},
	}
}

func playsManyAtOnce(p playerT) {
	var bouts []bout
	for range atOnce {
		bouts = append(bouts, p.bout())
	}
	p.all(bouts, func(p playerT, b bout) {
		join := p.send(p.invitation(b))
		p.accepted(join, protocol.TypeGameJoinAck)
		p.sameMatch(join, b)
	})
	p.all(bouts, func(p playerT, b bout) {
		a := p.send(p.call(b))
		p.chooses(a)
		p.sameMatch(a, b)
	})
}

// all does something for every match at once, and ends the check as the first
// that failed.
func (p playerT) all(bouts []bout, do func(p playerT, b bout)) {
	var waits []func()
	for _, b := range bouts {
		waits = append(waits, p.apart(func(p playerT) { do(p, b) }))
	}
	var failed any
	for _, wait := range waits {
		func() {
			defer func() {
				if ended := recover(); failed == nil {
					failed = ended
				}
			}()
			wait()
		}()
		if failed != nil {
			// Its evidence is the last; the rest is waited for apart from it.
			p.T = &T{ctx: p.ctx, counter: p.counter, side: p.side}
		}
	}
	if failed != nil {
		panic(failed)
	}
}

func playsBesideASlowPeer(p playerT) {
	b, invited := p.bout(), false
	p.besideSlowPeer(func() *Answer {
		if !invited {
			invited = true
			return p.send(p.invitation(b))
		}
		a := p.send(p.call(b))
		p.chooses(a)
		return a
	})
}

// An agent may take a moment to notice a peer that has sent half a request, and
// holds up others only then. So it is asked several times, with pauses.
const (
	noticed = 10
	notice  = 25 * time.Millisecond
)

// pause waits, unless the check has to end.
func (t *T) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.ctx.Done():
	}
}

// stall opens a connection and sends the beginning of a request.
func stall(ctx context.Context, u *url.URL) (net.Conn, error) {
	addr, err := address(u.String())
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\":", u.RequestURI(), u.Host)
	if err != nil {
		return nil, fmt.Errorf("%w, %v", err, conn.Close())
	}
	return conn, nil
}

func answersFast(p playerT) {
	limit := p.counter.opts.Timeout / 4
	var took []time.Duration
	timed := func(a *Answer) *Answer {
		p.accepted(a, "")
		if a.Took > limit {
			p.Fail("%s took %.0f ms of the %.0f ms until its deadline", a, milliseconds(a.Took), milliseconds(p.counter.opts.Timeout))
		}
		took = append(took, a.Took)
		return a
	}
	for range inARow {
		b := p.bout()
		timed(p.send(p.invitation(b)))
		a := timed(p.send(p.call(b)))
		timed(p.send(p.over(b, choiceIn(a))))
	}
	slices.Sort(took)
	p.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), milliseconds(took[len(took)/2]), milliseconds(took[len(took)-1]))
}

// padding is text of n bytes.
func padding(n int) string { return strings.Repeat("x", n) }

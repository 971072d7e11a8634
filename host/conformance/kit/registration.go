package kit

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// RegistrationTests test what the agent sent when it registered, and at the end of its
// league, of which ids are the players. The first send it nothing, except that accepts, if
// set, sends a message to its contact endpoint; the last may have it leave.
func RegistrationTests(role Role, accepts func(t *T, url string) *Answer, ids func(t *T) []string) map[string]func(*T) {
	first := func(run func(t *T, a *Registration)) func(*T) {
		return func(t *T) {
			r := t.Session.Registrar
			all := r.Attempts()
			if len(all) == 0 {
				r.NeedsRegistration(t)
			}
			t.Show(all[0].Message)
			run(t, all[0])
		}
	}
	end := func(t *T) *Answer {
		return t.Send(Request{Message: t.Session.Registrar.LeagueCompleted(ids(t)...)})
	}
	return map[string]func(*T){
		"register.rpc": first(func(t *T, a *Registration) { t.Holds(Frame(a.Doc)) }),
		"register.fields": first(func(t *T, a *Registration) {
			t.Valid(a.Fields, registrations[role], false)
			if !slices.Contains(listOf[string](a.Meta["game_types"]), protocol.GameEvenOdd) {
				t.Fail(`%s.game_types is %s, want a list that contains "even_odd"`, role+"_meta", a.Meta.Shown("game_types"))
			}
		}),
		"register.endpoint": first(func(t *T, a *Registration) { reachable(t, a, accepts) }),
		"register.listens":  first(listened),
		"register.retry":    first(retried),
		"register.once":     first(registeredOnce),
		"end.ack":           func(t *T) { t.Accepted(end(t), protocol.TypeLeagueCompleted.Answer()) },
		"end.again":         func(t *T) { staysOrLeaves(t, func() *Answer { return end(t) }) },
	}
}

func reachable(t *T, a *Registration, accepts func(t *T, url string) *Answer) {
	endpoint := a.Endpoint
	if err := Reach(t.ctx, endpoint); err != nil {
		t.Fail("no connection to the contact_endpoint %s: %v", endpoint, err)
	}
	if endpoint == t.Session.URL || accepts == nil {
		return
	}
	// It may be another name of the same place.
	if reply := accepts(t, endpoint); reply.Err != nil || reply.Status == 404 || reply.Status == 405 {
		t.Fail("the contact_endpoint %s does not accept messages: %s", endpoint, reply)
	}
}

func listened(t *T, a *Registration) {
	if a.failed != nil {
		t.Fail("while it registered, %s did not answer: %v", a.Endpoint, a.failed)
	}
	t.Note("its endpoint answered after %.1f ms while it registered", Milliseconds(a.answered))
}

func retried(t *T, first *Registration) {
	if !t.Session.Busy {
		t.Skip("its first registration was accepted; --busy refuses it once as a busy manager does, and an agent that does not retry must then be restarted")
	}
	all := t.Session.Registrar.Attempts()
	if len(all) < 2 {
		t.Fail("after HTTP 503 with Retry-After: 1 it did not register again within %v", t.Session.Wait)
	}
	t.Show(all[1].Message)
	t.Note("it tried again after %v", all[1].At.Sub(first.At).Round(time.Millisecond))
}

// staysOrLeaves ends the check unless an agent that knows the end of its league
// acknowledges it again, or is gone.
func staysOrLeaves(t *T, tell func() *Answer) {
	// An agent that is about to exit may drop a connection or two.
	for began := time.Now(); ; {
		a := tell()
		switch {
		case a.Err == nil:
			t.Accepted(a, protocol.TypeLeagueCompleted.Answer())
			t.Note("it stays")
			return
		case Reach(t.ctx, t.Session.URL) != nil:
			t.Note("it has left")
			return
		case time.Since(began) > t.Session.Timeout:
			t.Fail("it neither answers nor leaves: %v", a.Err)
		}
	}
}

func registeredOnce(t *T, _ *Registration) {
	r := t.Session.Registrar
	var accepted []*Registration
	r.Do(func() { accepted = r.accepted() })
	if n := len(accepted); n > 1+r.Renewals {
		t.Show(accepted[n-1].Message)
		t.Fail("it registered %s and was accepted each time", Times(n))
	}
}

// Times returns "once", "twice" or "n times".
func Times(n int) string {
	if n == 1 || n == 2 {
		return []string{"once", "twice"}[n-1]
	}
	return Count(n, "time", "times")
}

// Count says a number of things: "1 match", "2 matches".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

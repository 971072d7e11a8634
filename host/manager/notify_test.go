package manager

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

func TestAnAgentThatStaysAwayHasOneMessageOfEachTypeWaiting(t *testing.T) {
	t.Parallel()
	m, c := lonely(t)
	for round := range 100 {
		m.mu.Lock()
		for _, kind := range []protocol.Type{protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted} {
			m.send(kind, []*contact{c}, func(c *contact) protocol.Message {
				return &protocol.RoundAnnouncement{Header: m.header(protocol.TypeRoundAnnouncement, c, fmt.Sprint(round))}
			})
		}
		if n := len(c.queue); n > 3 {
			t.Fatalf("%d messages are waiting after %d rounds", n, round+1)
		}
		m.mu.Unlock()
	}
}

// A report that comes while its match goes to another referee is judged when
// that stands in the journal.
func TestAReportDoesNotOvertakeAnAssignment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := lonely(t)
		for _, e := range []league.Event{
			signedUp(protocol.RolePlayer, "P02"), signedUp(protocol.RoleReferee, "REF01"), signedUp(protocol.RoleReferee, "REF02"),
			&league.Started{Legs: 1, Seats: []string{"P01", "P02"}}, &league.Assigned{Round: 1, Referees: []string{"REF01"}},
		} {
			if err := m.record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		m.contacts["REF01"].dead = true
		e := m.assignment(1)
		if e == nil || e.Referees[0] != "REF02" {
			t.Fatalf("the assignment is %+v", e)
		}
		m.reserve("R1M1") // as assign does
		answered, from := make(chan error, 1), m.state.Members["REF01"]
		go func() {
			_, _, err := m.claim(t.Context(), &protocol.MatchResultReport{
				Header: protocol.Header{MatchID: "R1M1"}, Result: protocol.MatchResult{Details: &protocol.ResultDetails{Status: "TECHNICAL_LOSS"}},
			}, from)
			answered <- err
		}()
		synctest.Wait()
		select {
		case err := <-answered:
			t.Fatalf("the report was answered before the assignment stood: %v", err)
		default:
		}
		if err := m.record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		m.release("R1M1")
		m.mu.Unlock()
		if err := <-answered; dialect.CodeOf(err) != protocol.CodeMatchNotFound {
			t.Errorf("the report was answered with %v", err)
		}
	})
}

package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

// assignsOneByOne is a manager like some real ones: it sends players no round, assigns
// one match at a time, and ends rounds and the league without a message.
func assignsOneByOne(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
	s := reading(body)
	m.Lock()
	referee := toReferee(m, s)
	m.Unlock()
	switch {
	case s.of(roundEnd), s.of(completed), s.of(announcement) && !referee:
		return acked(s), nil
	case !s.of(announcement):
		return next(body)
	}
	return assignsAlone(s, next)
}

// assignsAlone sends the matches of an announcement to a referee one by one.
func assignsAlone(s *sent, next onward) (*jsonrpc.Reply, error) {
	for _, match := range rows(s.message, "matches") {
		if match["player_A_endpoint"] == nil {
			continue // another referee's
		}
		for name, value := range s.message {
			if name != "matches" && name != "byes" {
				match[name] = value
			}
		}
		match["message_type"] = "START_MATCH"
		if _, err := next(write(object{"jsonrpc": "2.0", "id": fmt.Sprint(s.doc["id"], match["match_id"]), "method": "start_match", "params": match})); err != nil {
			return nil, err
		}
	}
	return acked(s), nil
}

// TestForeignManager checks a manager that runs a league in another way: it has
// failed for what it omits, and the rest is tested all the same.
func TestForeignManager(t *testing.T) {
	t.Parallel()
	want := []string{"manager.round.announced", "manager.round.players", "manager.roundend.sent", "manager.end.sent"}
	r := examined(t, conformance.Manager, func(s scale) (*testAgent, error) {
		mu := mutant{scale: s, out: assignsOneByOne}
		return mutated(mu, mutatedManager(mu))
	}, failing(want...), func(s scale, o *conformance.Config) {
		o.Only, o.Timeout = checksOf(conformance.Manager, mutant{}), s.of(silenceTimeout)
	})
	if failed := idsWith(r, conformance.Failed); !slices.Equal(failed, want) {
		t.Errorf("failed %q, want %q\n%s", failed, want, explain(r))
	}
	untested := []string{
		"manager.notify.busy", "manager.notify.broken", "manager.notify.same", "manager.roundend.once", "manager.end.champion",
	}
	skipped, passed := idsWith(r, conformance.Skipped), idsWith(r, conformance.Passed)
	for _, id := range untested {
		if !slices.Contains(skipped, id) {
			t.Errorf("%s is tested, though nothing was sent for it", id)
		}
	}
	for _, id := range []string{"manager.round.given", "manager.round.pairs", "manager.standings.ties", "manager.report.score", "manager.start.over"} {
		if !slices.Contains(passed, id) {
			t.Errorf("%s has not passed", id)
		}
	}
}

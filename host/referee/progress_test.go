package referee_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// watching is a round of a manager that asks for progress.
func watching(matches ...obj) obj { return with(round(matches...), "report_progress", true) }

// hears is a manager that acknowledges progress, too.
func hears(_ context.Context, h *heard) jsonrpc.Response {
	return say(obj{
		"protocol": "league.v2", "message_type": "MATCH_PROGRESS_ACK", "sender": "league_manager", "status": "ACKNOWLEDGED",
		"timestamp": "2026-01-01T00:00:00Z", "conversation_id": h.ConversationID, "league_id": league,
	})
}

// thinks is a player that chooses after a while.
func thinks(ctx context.Context, h *heard) jsonrpc.Response {
	if h.MessageType == protocol.TypeChooseParityCall {
		time.Sleep(time.Second) // of the bubble's clock
	}
	return plays("even")(ctx, h)
}

// states returns what the manager was told of a match, message by message.
func (r *rig) states(id string) (all []obj) {
	for _, h := range r.all("manager", protocol.TypeMatchProgress) {
		for _, m := range h.body["matches"].([]any) {
			if m := m.(obj); m["match_id"] == id {
				all = append(all, m)
			}
		}
	}
	return all
}

// TestProgress: a manager that asks for it hears who is asked, for how long, who has
// chosen, who is asked again and why somebody loses, and no choice.
func TestProgress(t *testing.T) {
	t.Parallel()
	bubble(t, func(c *referee.Config) { c.Progress, c.ChoiceTimeout = true, 10*time.Second }, world{
		"manager": except(keeps, protocol.TypeMatchProgress, hears),
		"P02":     except(plays("odd"), protocol.TypeChooseParityCall, hangs),
	}, func(t *testing.T, r *rig) {
		r.must(watching(match("R1M1", "P01", "P02")))
		r.reports(1)
		synctest.Wait()
		all := r.states("R1M1")
		if len(all) == 0 {
			t.Fatal("the manager is told nothing")
		}
		asked := slices.IndexFunc(all, func(m obj) bool {
			return fmt.Sprint(m["chosen"]) == "[P01]" && strings.Contains(fmt.Sprint(m["asked"]), "P02") && m["faults"] == nil
		})
		if asked < 0 || all[asked]["time_left_ms"].(float64) < 9_000 || all[asked]["time_left_ms"].(float64) > 10_000 {
			t.Errorf("nothing says that P02 is asked, and for how long, and that P01 has chosen: %v", all)
		}
		last := all[len(all)-1]
		if fault, _ := last["faults"].(obj)["P02"].(string); fault == "" || fmt.Sprint(last["retried"]) != "[P02]" {
			t.Errorf("the last word is %v, want P02 asked again, and why it lost", last)
		}
		for _, h := range r.all("manager", protocol.TypeMatchProgress) {
			if raw, _ := json.Marshal(h.body); h.AuthToken != refereeToken || strings.Contains(string(raw), `"even"`) || strings.Contains(string(raw), `"odd"`) {
				t.Errorf("the manager is sent %s", raw)
			}
		}
	})
}

// TestProgressIsAskedFor: without the word of the manager, or without Config.Progress, none
// is sent; after a refusal none until the manager asks again.
func TestProgressIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			tells     bool
			announced func(...obj) obj
			want      int
		}{{true, round, 0}, {false, watching, 0}, {true, watching, 1}} {
			r := newRig(t, func(c *referee.Config) { c.Progress = test.tells })
			r.agent("manager", except(keeps, protocol.TypeMatchProgress, answering(refuse(7, obj{"error_code": "E007"}))))
			for i := range 4 {
				r.agent(fmt.Sprintf("P%02d", i+1), thinks)
			}
			r.run()
			for i := range 2 { // one after the other
				r.must(test.announced(match(fmt.Sprintf("R1M%d", i+1), fmt.Sprintf("P%02d", 2*i+1), fmt.Sprintf("P%02d", 2*i+2))))
				r.reports(i + 1)
				time.Sleep(time.Second) // of the bubble's clock
				if n := len(r.all("manager", protocol.TypeMatchProgress)); n != test.want*(i+1) {
					t.Errorf("%+v: %d messages after %d matches", test, n, i+1)
				}
			}
			r.end()
		}
	})
}

// TestProgressWaitsForNobody: a manager that does not answer it holds up no match, and is
// sent one message at a time; one that answers gets at most ten in a second.
func TestProgressWaitsForNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, answer := range map[string]script{"silent": hangs, "quick": hears} {
			r := newRig(t, func(c *referee.Config) { c.Progress, c.Timeout = true, time.Minute })
			r.agent("manager", except(keeps, protocol.TypeMatchProgress, answer))
			var matches []obj
			for i := range 40 {
				a, b := fmt.Sprintf("A%02d", i), fmt.Sprintf("B%02d", i)
				r.agent(a, thinks) // for a second, in which progress is sent
				r.agent(b, plays("odd"))
				matches = append(matches, match(fmt.Sprintf("R1M%d", i+1), a, b))
			}
			r.run()
			began := time.Now()
			r.must(watching(matches...))
			r.reports(len(matches))
			if took := time.Since(began); took > 4*time.Second { // ten at once
				t.Errorf("%s: the matches took %v", name, took)
			}
			told := r.all("manager", protocol.TypeMatchProgress)
			if name == "silent" && len(told) != 1 {
				t.Errorf("a silent manager is sent %d messages", len(told))
			}
			for i := 1; i < len(told); i++ {
				if rest := told[i].at.Sub(told[i-1].at); rest < 100*time.Millisecond {
					t.Errorf("%s: two messages within %v", name, rest)
				}
			}
			r.end()
		}
	})
}

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

// reporting plays a match under a manager that answers the first reports as
// given, and then takes them.
func reporting(t *testing.T, first []script, check func(t *testing.T, r *rig)) {
	t.Helper()
	n := 0
	bubble(t, nil, world{"manager": except(keeps, protocol.TypeMatchResultReport, func(ctx context.Context, h *heard) jsonrpc.Response {
		if n++; n <= len(first) {
			return first[n-1](ctx, h)
		}
		return keeps(ctx, h)
	})}, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		r.reports(1)
		time.Sleep(10 * time.Minute) // of the bubble: for whatever may still come
		check(t, r)
	})
}

func (r *rig) alarms() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == referee.Alarm {
			n++
		}
	}
	return n
}

func TestReports(t *testing.T) {
	t.Parallel()
	wrong := answering(refuse(5001, obj{"error_code": "E012"}))
	notYet := func(context.Context, *heard) jsonrpc.Response {
		return say(obj{"message_type": "MATCH_RESULT_ACK", "recorded": false})
	}
	duplicate := func(data obj) []script {
		return []script{answering(refuse(5003, with(data, "error_code", "E041", "message_type", "LEAGUE_ERROR")))}
	}
	var long []script
	for _, s := range []script{hangs, answering(jsonrpc.Response{Status: 503, Body: []byte("busy")}), answering(jsonrpc.Response{Status: 500, Body: []byte("x")}),
		answering(refuse(-32603, obj{"error_code": "E049"})), answering(jsonrpc.Response{Body: []byte("garbage")}), notYet} {
		long = append(long, s, s)
	}
	for _, tt := range []struct {
		name             string
		first            []script
		reports, signups int
		alarms           int
	}{
		{"taken", nil, 1, 1, 0},
		{"taken in the end", long, 13, 1, 0},
		{"the same result already", duplicate(obj{"same_result": true}), 1, 1, 0},
		{"the same result already, in the context", duplicate(obj{"context": obj{"same_result": true}}), 1, 1, 0},
		{"another result", duplicate(obj{"same_result": false}), 1, 1, 1},
		{"a duplicate, of what is not said", duplicate(obj{}), 1, 1, 0},
		{"given to another referee", []script{answering(refuse(5002, obj{"error_code": "E040"}))}, 1, 1, 0},
		{"refused", []script{answering(refuse(-32602, obj{"error_code": "E046"}))}, 1, 1, 1},
		{"token forgotten", []script{wrong}, 2, 2, 0},
		{"token never right", []script{wrong, wrong, wrong}, 2, 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reporting(t, tt.first, func(t *testing.T, r *rig) {
				reports := r.all("manager", protocol.TypeMatchResultReport)
				if len(reports) != tt.reports || len(r.all("manager", protocol.TypeRefereeRegisterRequest)) != tt.signups || r.alarms() != tt.alarms {
					t.Errorf("%d reports, %d registrations, %d alarms", len(reports), len(r.all("manager", protocol.TypeRefereeRegisterRequest)), r.alarms())
				}
				for i, h := range reports[1:] {
					if h.id == reports[0].id || h.ConversationID != reports[0].ConversationID {
						t.Errorf("report %d has id %s and conversation %s", i+1, h.id, h.ConversationID)
					}
				}
				if n := len(r.all("P01", protocol.TypeGameOver)); n != 1 {
					t.Errorf("GAME_OVER goes out %d times", n)
				}
			})
		})
	}
}

// The manager does not announce again what it has, so it has lost the report.
func TestAMatchAnnouncedAgainIsNotPlayedAgain(t *testing.T) {
	t.Parallel()
	draws := 0
	var release chan struct{}
	count := func(c *referee.Config) { c.Draw = func(referee.Match) (int, error) { draws++; return draws, nil } }
	bubble(t, count, world{"P01": except(plays("even"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
		<-release
		return chooses(h, "even")
	})}, func(t *testing.T, r *rig) {
		release = make(chan struct{})
		again := func() { r.must(round(match("R1M1", "P01", "P02"))) }
		again()
		again()
		synctest.Wait()
		again() // while it is in progress
		close(release)
		r.reports(1)
		synctest.Wait()
		again()
		reports := r.reports(2)
		synctest.Wait()
		if first, second := reports[0].body["result"], reports[1].body["result"]; len(r.all("manager", protocol.TypeMatchResultReport)) != 2 ||
			first.(obj)["details"].(obj)["drawn_number"] != 1.0 || second.(obj)["details"].(obj)["drawn_number"] != 1.0 {
			t.Errorf("reported %v and %v", first, second)
		}
		if log := strings.Join(r.log(), "\n"); draws != 1 || strings.Count(log, "GAME_INVITATION") != 2 || strings.Count(log, "GAME_OVER") != 2 {
			t.Errorf("%d draws; heard\n%s", draws, log)
		}
	})
}

func TestTheEndOfTheLeagueEndsRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		s     script
		lasts time.Duration
	}{
		{"all reported", keeps, 0},
		{"a report that is never taken", except(keeps, protocol.TypeMatchResultReport, hangs), 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, world{"manager": tt.s}, func(t *testing.T, r *rig) {
				r.must(round(match("R1M1", "P01", "P02")))
				r.reports(1)
				synctest.Wait()
				ack := r.must(completed())
				if ack["message_type"] != "LEAGUE_COMPLETED_ACK" || ack["referee_id"] != "REF01" {
					t.Errorf("the acknowledgement is %v", ack)
				}
				said := time.Now()
				if err := <-r.result; err != nil || time.Since(said) != tt.lasts {
					t.Errorf("Run ended after %v with %v", time.Since(said), err)
				}
				r.must(completed()) // a repeat is acknowledged
				if _, refused := r.send(round(match("R2M1", "P01", "P02"))); refused == nil {
					t.Error("a match is taken on after the end of the league")
				}
				r.result <- nil
			})
		})
	}
}

// A referee that is asked to stop leaves nothing behind, wherever it is: the
// bubble fails if a goroutine is left.
func TestStoppingEndsEverything(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		manager script
		player  script
	}{
		{"registering", hangs, plays("odd")},
		{"inviting", keeps, hangs},
		{"between retries", keeps, answering(jsonrpc.Response{Status: 503, Body: []byte("busy")})},
		{"asking", keeps, except(plays("odd"), protocol.TypeChooseParityCall, hangs)},
		{"awaiting a post", keeps, except(plays("odd"), protocol.TypeGameInvitation, answering(say(obj{"status": "ACKNOWLEDGED"})))},
		{"telling", keeps, except(plays("odd"), protocol.TypeGameOver, hangs)},
		{"reporting", except(keeps, protocol.TypeMatchResultReport, hangs), plays("odd")},
		{"registering again", func() script {
			signups := 0
			return func(ctx context.Context, h *heard) jsonrpc.Response {
				if h.MessageType == protocol.TypeMatchResultReport {
					return refuse(5001, obj{"error_code": "E012"})
				}
				if signups++; signups > 1 {
					return hangs(ctx, h)
				}
				return keeps(ctx, h)
			}
		}(), plays("odd")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.meets(world{"manager": tt.manager, "P02": tt.player})
				r.launch()
				synctest.Wait()
				if slices.ContainsFunc(r.events, func(e referee.Event) bool { return e.Kind == referee.Registered }) {
					r.must(round(match("R1M1", "P01", "P02")))
				}
				synctest.Wait()
				begun := time.Now()
				r.end()
				if took := time.Since(begun); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

const idleExit = 20 * time.Second

// leaves waits for the end of Run, at most for so long, and returns when that
// was and what Run returned.
func (r *rig) leaves(within time.Duration) (time.Duration, error, bool) {
	select {
	case err := <-r.result:
		r.halt()
		r.stop()
		r.serving.Wait()
		return time.Since(r.start), err, true
	case <-time.After(within):
		return within, nil, false
	}
}

func (r *rig) told(kind referee.EventKind) []referee.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e referee.Event) bool { return e.Kind != kind })
}

// A referee leaves a league that has fallen silent, but not before it has
// conducted a match, and not while one is in progress.
func TestLeavingASilentLeague(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *referee.Config) { c.IdleExit = idleExit })
		thinking := except(plays("even"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
			time.Sleep(29 * time.Second) // nearly all there is
			return chooses(h, "even")
		})
		r.meets(world{"P01": thinking})
		r.run()
		if at, err, left := r.leaves(10 * idleExit); left {
			t.Fatalf("it left after %v without having done anything: %v", at, err)
		}
		r.must(round(match("R1M1", "P01", "P02")))
		announced := time.Since(r.start)
		r.reports(1)
		at, err, left := r.leaves(10 * idleExit)
		if silence := at - announced - 29*time.Second; !left || err != nil || silence < idleExit || silence > 2*idleExit {
			t.Errorf("left: %v, %v after the match: %v", left, silence, err)
		}
		if e := r.told(referee.Deserted); len(e) != 1 || e[0].Matches != 1 {
			t.Errorf("told of %+v", e)
		}
	})
}

// One that still owes a report says so when it leaves.
func TestLeavingWithAReportOwed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *referee.Config) { c.IdleExit = idleExit })
		busy := jsonrpc.Response{Status: 503, Error: &jsonrpc.Error{Code: jsonrpc.CodeBusy, Message: "busy"}}
		r.meets(world{"manager": except(keeps, protocol.TypeMatchResultReport, answering(busy))})
		r.run()
		r.must(round(match("R1M1", "P01", "P02")))
		at, err, left := r.leaves(10 * idleExit)
		if !left || err == nil || !strings.Contains(err.Error(), "http://manager/mcp has been silent for 20s and has not acknowledged 1 of 1 reports") {
			t.Errorf("left: %v after %v: %v", left, at, err)
		}
	})
}

// played has one match played by two scripts and returns the rig once it is
// reported. It runs in a bubble, with the timeouts of the protocol.
func played(t *testing.T, a, b script, check func(t *testing.T, r *rig, result obj)) {
	t.Helper()
	bubble(t, nil, world{"P01": a, "P02": b}, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		report := r.reports(1)[0]
		synctest.Wait()
		check(t, r, report.body["result"].(obj))
	})
}

// A player has until the deadline that it is told, which is a whole second even
// where the time to choose is not.
func TestTheStatedDeadlineIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		off   time.Duration // from the deadline
		calls int
	}{
		{"just in time", -time.Millisecond, 1},
		{"just too late", time.Millisecond, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			calls := 0
			late := except(plays("odd"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
				if calls++; calls > 1 {
					return chooses(h, "odd")
				}
				deadline, err := protocol.ParseTimestamp(h.body["deadline"].(string))
				if err != nil {
					t.Error(err)
				}
				if left := time.Until(deadline); left <= 2500*time.Millisecond || left >= 3500*time.Millisecond {
					t.Errorf("%v are left until the deadline", left)
				}
				time.Sleep(time.Until(deadline) + c.off)
				return chooses(h, "even")
			})
			bubble(t, func(cfg *referee.Config) { cfg.ChoiceTimeout = 2500 * time.Millisecond }, world{"P01": late}, func(t *testing.T, r *rig) {
				time.Sleep(300 * time.Millisecond) // of a clock that begins at a full second
				r.must(round(match("R1M1", "P01", "P02")))
				result := r.reports(1)[0].body["result"].(obj)
				want := map[int]string{1: "even", 2: "odd"}[c.calls]
				if got := result["details"].(obj)["choices"].(obj)["P01"]; calls != c.calls || got != want {
					t.Errorf("called on %d times, and the choice is %v, want %d and %s", calls, got, c.calls, want)
				}
				synctest.Wait()
			})
		})
	}
}

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

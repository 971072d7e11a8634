package player_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// TestLeague goes through a league as a manager and a referee see it; what the answers say
// is for the checks of conformance.
func TestLeague(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Once = true })
	must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
	r.plays("R1M1")
	for _, m := range []protocol.Message{r.gameError("R1M1"), r.over("R1M1"), r.standings(), r.roundCompleted(), r.leagueCompleted()} {
		must[*protocol.Ack](r, m)
	}
	if e := r.until(player.Completed); e.Place != 2 || e.Player != "P01" || e.Standing != (strategies.Standing{Played: 1, Wins: 1, Points: 3}) {
		t.Errorf("ended with %+v", e)
	}
	r.finish()
	r.wants("start", "choose R1M1", "observe R1M1", "close")
}

// TestResultsAfterTheEnd: some results come after the message that the league is over.
func TestResultsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, func(r *rig) { r.cfg.Mode, r.cfg.League, r.cfg.Once = protocol.Tolerant, nil, true })
		r.plays("R1M1")
		must[*protocol.Ack](r, r.leagueCompleted())
		must[*protocol.Ack](r, r.over("R1M1"))
		if e := r.until(player.Completed); e.Standing.Wins != 1 {
			t.Errorf("ended with %+v", e)
		}
		r.finish()
	})
}

// TestSurvey has the manager tell the strategy's player who plays and when, but
// only once it has the acknowledgement of its announcement.
func TestSurvey(t *testing.T) {
	t.Parallel()
	acknowledged := make(chan struct{})
	r := running(t, func(r *rig) {
		r.cfg.League = nil
		r.manager.queries[protocol.QueryPlayers] = func(*protocol.LeagueQuery) (any, error) {
			<-acknowledged // such a manager does one thing at a time
			return protocol.PlayersData{Players: []protocol.PlayerInfo{{PlayerID: "P01"}, {PlayerID: "P02"}, {PlayerID: "P03"}}}, nil
		}
		r.manager.queries[protocol.QuerySchedule] = func(*protocol.LeagueQuery) (any, error) {
			match := func(id, a, b string) protocol.AnnouncedMatch {
				return protocol.AnnouncedMatch{MatchID: id, GameType: protocol.GameEvenOdd, PlayerAID: a, PlayerBID: b, Status: "PENDING"}
			}
			return protocol.ScheduleData{TotalRounds: protocol.Some(3), Rounds: []protocol.ScheduledRound{
				{RoundID: protocol.RoundNumber(1), Matches: []protocol.AnnouncedMatch{match("R1M1", "P02", "P03")}},
				{RoundID: protocol.RoundNumber(2), Matches: []protocol.AnnouncedMatch{match("R2M1", "P01", "P02")}},
				{RoundID: protocol.RoundNumber(3), Matches: []protocol.AnnouncedMatch{match("R3M1", "P02", "P01")}},
			}}, nil
		}
	})
	must[*protocol.Ack](r, r.announcement(announced("R3M1", "P02", "P01", "REF01")))
	close(acknowledged)
	r.plays("R3M1")
	s := r.s.setups[0]
	if strings.Join(s.Field, " ") != "P01 P02 P03" || s.Rounds != 3 || s.Legs != 2 || s.ID != "P01" || s.Name != "Ada" {
		t.Errorf("the strategy received %+v", s)
	}
	if got := r.s.turns[0]; got.Match != 2 || got.MatchID != "R3M1" || got.Round != 1 || got.Opponent != "P02" {
		t.Errorf("asked for %+v", got)
	}
}

// forgets makes a manager that has lost its memory: it refuses a question with the token
// that it gave, and gives another one to a player that registers again.
func (f *fakeManager) forgets(query string, data any) {
	f.queries[query] = func(m *protocol.LeagueQuery) (any, error) {
		switch {
		case m.AuthToken != "tok-P01-new":
			return nil, protocol.Refuse(protocol.CodeTokenInvalid, m.MessageType, "who are you?")
		case data == nil:
			return nil, protocol.Refuse(protocol.CodeLeagueNotStarted, m.MessageType, "later")
		}
		return data, nil
	}
	f.answer = func(n int, _ *protocol.LeagueRegisterRequest) (protocol.Message, error) {
		if n == 2 {
			f.token = "tok-P01-new"
		}
		return f.accept(), nil
	}
}

// TestUnknownToken has a manager that has lost its memory: a query tells, and
// the player registers again.
func TestUnknownToken(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.League = nil
		r.manager.forgets(protocol.QueryPlayers, nil)
		r.manager.forgets(protocol.QuerySchedule, nil)
	})
	must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
	r.until(player.Registered)
	got := r.manager.registrations()
	if len(got) != 2 || got[1].AuthToken != "" || got[1].Sender != "player:P01" {
		t.Errorf("registrations: %+v", got)
	}
	must[*protocol.GameJoinAck](r, r.invitation("R1M1")) // under the new keys
}

// TestWatch has a manager that says nothing: the player asks after it, finds
// that it is another one, and registers with it.
func TestWatch(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.Watch = 2 * time.Millisecond
		r.manager.forgets(protocol.QueryStatus, protocol.StatusData{Status: "waiting", CurrentRound: protocol.Some(0)})
	})
	r.until(player.Registered)
}

// TestMissedTheEnd has the player find out by itself that the league is over.
func TestMissedTheEnd(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.Watch, r.cfg.Once = 2*time.Millisecond, true
		r.manager.queries[protocol.QueryStatus] = func(*protocol.LeagueQuery) (any, error) {
			return protocol.StatusData{Status: "completed", CurrentRound: protocol.Some(3)}, nil
		}
	})
	r.until(player.Completed)
	r.finish()
}

// TestNextLeague stays when a league is over. The next one has the same ids and
// the same matches, and nothing is left of the first.
func TestNextLeague(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.Watch = 2 * time.Millisecond
		r.manager.queries[protocol.QueryStatus] = func(*protocol.LeagueQuery) (any, error) {
			return protocol.StatusData{Status: "running", CurrentRound: protocol.Some(1)}, nil
		}
		r.manager.answer = func(n int, m *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			if n > 1 && n < 5 {
				return dialect.Rejected(m.MessageType, protocol.Header{}, "League already completed"), nil
			}
			if n == 5 {
				r.manager.token = "tok-P01-second"
			}
			return r.manager.accept(), nil
		}
	})
	for range 2 {
		must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
		r.plays("R1M1")
		must[*protocol.Ack](r, r.over("R1M1"))
		must[*protocol.Ack](r, r.leagueCompleted())
		if e := r.until(player.Completed); e.Standing.Played != 1 {
			t.Errorf("ended with %+v", e)
		}
		if len(r.manager.registrations()) < 5 {
			r.until(player.Registered)
		}
	}
	r.stop()
	r.finish()
	league := []string{"start", "choose R1M1", "observe R1M1", "close"}
	r.wants(append(league, league...)...)
}

// TestHearsOfTheNextLeague registers as soon as a manager announces a round
// after the end, whatever the clock says.
func TestHearsOfTheNextLeague(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	must[*protocol.Ack](r, r.leagueCompleted())
	must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
	r.until(player.Registered)
}

func TestLeavesWhenAskedTo(t *testing.T) {
	t.Parallel()
	chosen := make(chan struct{})
	r := running(t, func(r *rig) {
		r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
			close(chosen)
			<-ctx.Done()
			return 0, ctx.Err()
		}
	})
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	answered := make(chan error, 1)
	go func() {
		_, err := r.send(r.call("R1M1"))
		answered <- err
	}()
	<-chosen
	r.stop()
	r.finish()
	// The referee is to ask again: the player may be back in a moment.
	if err := <-answered; wire.CodeOf(err) != protocol.CodePlayerDisconnect || !wire.Retryable(err) {
		t.Errorf("the call ended with %v", err)
	}
	if len(r.p.Faults()) != 0 {
		t.Errorf("faults: %v", r.p.Faults())
	}
	if _, err := r.send(r.call("R1M1")); wire.CodeOf(err) != protocol.CodePlayerDisconnect {
		t.Errorf("after the end: %v", err)
	}
	must[*protocol.Ack](r, r.over("R1M1")) // late, and acknowledged all the same
	r.wants("start", "choose R1M1", "close")
}

// TestUnsaidEnd: where a manager never says that the league is over, its schedule shows it
// within seconds, and its table after a longer silence; one that leaves matches open does not.
func TestUnsaidEnd(t *testing.T) {
	t.Parallel()
	match := func(id, a, b, status string) protocol.AnnouncedMatch {
		return protocol.AnnouncedMatch{MatchID: id, PlayerAID: a, PlayerBID: b, Status: status}
	}
	schedule := func(matches ...protocol.AnnouncedMatch) any {
		return protocol.ScheduleData{Rounds: []protocol.ScheduledRound{{RoundID: protocol.RoundNumber(1), Matches: matches}}}
	}
	table := func(played ...int) any {
		var rows []protocol.Standing
		for i, n := range played {
			rows = append(rows, protocol.Standing{Rank: i + 1, PlayerID: []string{"P01", "P02", "P03"}[i], Played: protocol.Some(n), Points: 3 * n})
		}
		return protocol.StandingsData{Standings: rows}
	}
	for name, tt := range map[string]struct {
		query string
		data  any
		after time.Duration // 0: not within a minute
	}{
		"a schedule that is over":     {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED")), 5 * time.Second},
		"a schedule without statuses": {protocol.QuerySchedule, schedule(match("R1M1", "P02", "P01", ""), match("R1M2", "P03", "P04", "")), 5 * time.Second},
		"another own match":           {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED"), match("R2M1", "P01", "P02", "PENDING")), 0},
		"a match of others":           {protocol.QuerySchedule, schedule(match("R1M1", "P01", "P02", "FINISHED"), match("R1M2", "P03", "P04", "RUNNING")), 0},
		"a table that is full":        {protocol.QueryStandings, table(1, 1), 20 * time.Second},
		"a table of three":            {protocol.QueryStandings, table(1, 1, 0), 0},
		"neither":                     {protocol.QueryPlayers, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := running(t, func(r *rig) {
					r.cfg.Mode, r.cfg.League, r.cfg.Watch = protocol.Tolerant, nil, time.Hour
					r.manager.queries[tt.query] = func(*protocol.LeagueQuery) (any, error) { return tt.data, nil }
				})
				r.plays("R1M1")
				must[*protocol.Ack](r, r.over("R1M1"))
				over := func() (said bool) {
					for len(r.events) > 0 {
						e := <-r.events
						said = said || e.Kind == player.Completed && e.Standing.Played == 1
					}
					return said
				}
				if tt.after == 0 {
					tt.after = time.Hour
				}
				time.Sleep(min(tt.after, time.Minute) - time.Second)
				if over() {
					t.Errorf("the league is over before %v", tt.after)
				}
				if time.Sleep(2 * time.Second); over() != (tt.after < time.Minute) {
					t.Errorf("over after %v: %v", tt.after, tt.after >= time.Minute)
				}
				r.quit()
				synctest.Wait()
			})
		})
	}
}

// TestLeavesNothingBehind ends the agent in the middle of what it does. A
// goroutine that outlived it would be stuck in the bubble, which fails.
func TestLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(r *rig){
		"registering": func(r *rig) {
			r.manager.answer = func(_ int, m *protocol.LeagueRegisterRequest) (protocol.Message, error) {
				return nil, protocol.Refuse(protocol.CodeTimeout, m.MessageType, "not now")
			}
			r.start()
			time.Sleep(time.Minute) // of the bubble's time: it has tried often
		},
		"asking who plays": func(r *rig) {
			r.manager.queries[protocol.QueryPlayers] = func(*protocol.LeagueQuery) (any, error) {
				time.Sleep(time.Hour)
				return nil, errBoom
			}
			r.run()
			must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
		},
		"choosing": func(r *rig) {
			r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			r.run()
			must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
			r.serving.Go(func() { _, _ = r.send(r.call("R1M1")) })
			synctest.Wait()
		},
		"waiting for the next league": func(r *rig) {
			r.run()
			must[*protocol.Ack](r, r.leagueCompleted())
			r.until(player.Completed)
			time.Sleep(10 * player.DefaultWatch)
			if n := len(r.manager.registrations()); n < 2 {
				r.t.Errorf("registered %d times", n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(r *rig) { r.cfg.League, r.cfg.Watch = nil, player.DefaultWatch })
				during(r)
				begun := time.Now()
				r.stop()
				r.finish()
				if took := time.Since(begun); took > 0 {
					t.Errorf("took %v to end", took)
				}
			})
		})
	}
}

// TestSpokenToBeforeTheAnswer has a message of the league overtake the answer
// to the registration: it waits until the player knows who it is.
func TestSpokenToBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	answered := make(chan error, 1)
	var r *rig
	r = newRig(t, func(r2 *rig) {
		r2.manager.answer = func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			h := protocol.NewHeader(protocol.TypeRoundAnnouncement, "league_manager", protocol.Timestamp(time.Now()), "c")
			h.LeagueID, h.RoundID = "cup", protocol.RoundNumber(1)
			h.AuthToken = credential.NewVerifier(r2.manager.token).ManagerToken("cup")
			go func() {
				_, err := r.send(&protocol.RoundAnnouncement{Header: h, Matches: []protocol.AnnouncedMatch{announced("R1M1", "P01", "P02", "REF01")}})
				answered <- err
			}()
			return r2.manager.accept(), nil
		}
	})
	r.run()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"P07", "P42", "player_3fa9c2d1"} { // the one it asks for, and others
		r := running(t, func(r *rig) { r.cfg.ID, r.manager.id = "P07", id })
		m := r.manager.registrations()[0]
		if m.Sender != "player:P07" || m.Meta.DisplayName != "Ada" || m.Meta.ContactEndpoint != r.url || m.AuthToken != "" ||
			len(m.Meta.GameTypes) != 1 || m.Meta.GameTypes[0] != protocol.GameEvenOdd {
			t.Errorf("registered with %+v", m)
		}
		join := must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
		if r.p.ID() != id || join.PlayerID != id || join.Sender != "player:"+id {
			t.Errorf("%s joins as %q, %q", r.p.ID(), join.PlayerID, join.Sender)
		}
	}
}

func TestUnusableID(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.manager.id = "../../etc/passwd" })
	r.start()
	if err := r.finished(); err == nil || !strings.Contains(err.Error(), r.cfg.Manager.URL) || len(r.manager.registrations()) != 1 {
		t.Errorf("%v after %d registrations", err, len(r.manager.registrations()))
	}
}

package player_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestChoosesOnce asks for one choice many times at once and again later, in
// matches that are under way together.
func TestChoosesOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) {
		r.s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) { return 0.5, nil }
	})
	r.run()
	answers := make(map[string]protocol.Choice)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for m := range 8 {
		id := fmt.Sprintf("R1M%d", m+1)
		must[*protocol.GameJoinAck](r, r.invitation(id))
		for range 6 {
			wg.Go(func() {
				answer, err := r.send(r.call(id))
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				choice := answer.(*protocol.ChooseParityResponse).Chosen()
				if known := answers[id]; known != "" && known != choice {
					t.Errorf("%s: %s, and before %s", id, choice, known)
				}
				answers[id] = choice
			})
		}
	}
	wg.Wait()
	for id, choice := range answers {
		if got := r.choice(id); got != choice {
			t.Errorf("%s: later %s, and before %s", id, got, choice)
		}
	}
	if n := len(r.s.log()); n != 1+8 {
		t.Errorf("%d calls of the strategy: %q", n, r.s.log())
	}
}

func TestDeadlineInThePast(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.run()
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	call := r.call("R1M1")
	call.Deadline = "2020-01-01T00:00:00Z"
	if got := must[*protocol.ChooseParityResponse](r, call).Chosen(); got != "even" {
		t.Errorf("chose %q", got)
	}
}

// TestOutcomes tells results in all forms, and looks at what the strategy and
// the next turn make of them.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	won := func(o strategies.Outcome) strategies.Outcome {
		o.MatchID, o.Round, o.Opponent, o.Role = "R1M1", 1, "P02", game.RoleA
		return o
	}
	tests := map[string]struct {
		change func(m *protocol.GameOver)
		want   strategies.Outcome
	}{
		"win": {func(*protocol.GameOver) {}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Odd, Number: 8, Drew: true, Result: game.Win, Points: 3}},
		"loss": {func(m *protocol.GameOver) {
			m.GameResult.WinnerPlayerID, m.GameResult.DrawnNumber, m.GameResult.NumberParity = protocol.Some("P02"), protocol.Some(3), protocol.Some("odd")
		}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Odd, Number: 3, Drew: true, Result: game.Loss}},
		"draw": {func(m *protocol.GameOver) {
			m.GameResult.Status, m.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
			m.GameResult.Choices["P02"] = "even"
		}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Even, Number: 8, Drew: true, Result: game.Drawn, Points: 1}},
		"opponent's technical loss": {func(m *protocol.GameOver) {
			technical(m, "P01", map[string]protocol.Choice{"P01": "even"}, "P02")
		}, strategies.Outcome{Choice: game.Even, Result: game.Win, Points: 3}},
		"own technical loss": {func(m *protocol.GameOver) {
			technical(m, "P02", map[string]protocol.Choice{"P02": "odd"}, "P01")
		}, strategies.Outcome{OpponentChoice: game.Odd, Result: game.TechnicalLoss}},
		"both at fault": {func(m *protocol.GameOver) {
			technical(m, "", map[string]protocol.Choice{}, "P01", "P02")
		}, strategies.Outcome{Result: game.TechnicalLoss}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.run()
			must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
			r.choice("R1M1")
			over := r.over("R1M1")
			test.change(over)
			for range 3 { // told again and again, counted once
				must[*protocol.Ack](r, over)
			}
			r.wants("start", "choose R1M1", "observe R1M1")
			got := r.s.outcomes[0]
			got.Match = 0 // by the match's id, as the schedule is not known
			if want := won(test.want); got != want {
				t.Errorf("the strategy was told\n%+v, want\n%+v", got, want)
			}
			must[*protocol.GameJoinAck](r, r.invitation("R2M1"))
			r.choice("R2M1")
			var standing strategies.Standing
			standing.Add(test.want.Result, test.want.Points)
			if r.s.turns[1].Standing != standing {
				t.Errorf("next turn's standing: %+v, want %+v", r.s.turns[1].Standing, standing)
			}
		})
	}
}

func technical(m *protocol.GameOver, winner string, choices map[string]protocol.Choice, offenders ...string) {
	m.GameResult = &protocol.GameResult{
		Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Some(winner), DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
		Choices: choices, TechnicalLossPlayerIDs: offenders, Reason: "no answer",
	}
	if winner == "" {
		m.GameResult.WinnerPlayerID = protocol.Null[string]()
	}
}

// TestObservesBeforeTheAcknowledgement: the next round's choice comes after it.
func TestObservesBeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	release := make(chan struct{})
	r := newRig(t, func(r *rig) {
		r.s.observe = func(context.Context, *strategies.Outcome) error {
			close(seen)
			<-release
			return nil
		}
	})
	r.run()
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	r.choice("R1M1")
	acked := make(chan error, 1)
	go func() {
		_, err := r.send(r.over("R1M1"))
		acked <- err
	}()
	<-seen
	select {
	case err := <-acked:
		t.Errorf("acknowledged while the strategy observes: %v", err)
	default:
	}
	close(release)
	if err := <-acked; err != nil {
		t.Error(err)
	}
}

// TestTolerant sends what foreign managers and referees send.
func TestTolerant(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	r.run()
	post := func(body string) string {
		t.Helper()
		answer, err := r.calls.Client.Call(t.Context(), r.url, jsonrpc.Message{Body: []byte(body)})
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return string(answer.Raw)
	}
	tests := []struct{ name, body, want string }{
		{"no header fields", `{"jsonrpc":"2.0","id":1,"method":"handle_game_invitation","params":{"sender":"referee:R1","match_id":"A1","role_in_match":"player_b"}}`, `"accept":true`},
		{"no context", `{"jsonrpc":"2.0","id":2,"method":"choose_parity","params":{"sender":"referee:R1","match_id":"A1"}}`, `"parity_choice":"even"`},
		{"no invitation", `{"jsonrpc":"2.0","id":3,"method":"parity_choose","params":{"sender":"referee:R1","match_id":"A2","player_id":"P01","deadline":"2020-01-01T00:00:00Z"}}`, `"choice":"even"`},
		{"bare", `{"message_type":"GAME_INVITATION","sender":"referee:R1","match_id":"A3"}`, `"message_type":"GAME_JOIN_ACK"`},
		{"round with a name", `{"jsonrpc":"2.0","id":4,"method":"notify_round","params":{"message_type":"ROUND_ANNOUNCEMENT","sender":"league_manager:LM01","round_id":"ROUND_1","matches":[]}}`, `ROUND_ANNOUNCEMENT_ACK`},
		{"result of a match unknown", `{"jsonrpc":"2.0","id":5,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A9","game_result":{"status":"DRAW"}}}`, `GAME_OVER_ACK`},
		{"flat result", `{"jsonrpc":"2.0","id":6,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A1","result":"WIN","your_choice":"even","opponent_choice":"odd","drawn_number":4}}`, `GAME_OVER_ACK`},
		{"unknown", `{"jsonrpc":"2.0","id":7,"method":"notify_weather","params":{"message_type":"WEATHER_REPORT","sender":"league_manager","sunny":true}}`, `"status":"ACKNOWLEDGED"`},
	}
	for _, test := range tests {
		got := post(test.body)
		if !strings.Contains(got, test.want) || strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s\n is answered by %s, want %s", test.name, test.body, got, test.want)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":8,"method":"start_league","params":{"message_type":"START_LEAGUE","sender":"launcher","league_id":"x"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"notify_weather","params":{"sender":"league_manager"}}`,
	} {
		if got := post(body); !strings.Contains(got, `-32601`) {
			t.Errorf("%s\n is answered by %s, want a refusal", body, got)
		}
	}
	r.wants("start", "choose A1", "choose A2", "observe A1")
	if o := r.s.outcomes[0]; o.Result != game.Win || o.Number != 4 || o.OpponentChoice != game.NoParity && o.OpponentChoice != game.Odd {
		t.Errorf("told %+v", o)
	}
}

// TestStrict refuses the same things where the host is ours.
func TestStrict(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.run()
	r.refused(r.call("R9M9"), 4003, protocol.CodeMatchNotFound)
	r.refused(r.over("R9M9"), 4003, protocol.CodeMatchNotFound)

	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	other := r.call("R1M1")
	other.PlayerID = "P02"
	r.refused(other, 4002, protocol.CodePlayerNotRegistered)

	game := r.invitation("R1M2")
	game.GameType = "chess"
	if _, err := r.send(game); err == nil {
		t.Error("plays chess")
	}

	must[*protocol.Ack](r, r.announcement(announced("R1M3", "P02", "P03", "REF01")))
	r.refused(r.invitation("R1M3"), 4002, protocol.CodePlayerNotRegistered)

	for _, id := range []string{"", "../x", strings.Repeat("x", 65)} {
		if _, err := r.send(r.invitation(id)); err == nil {
			t.Errorf("match id %q is taken", id)
		}
	}
	contradiction := r.over("R1M1")
	contradiction.GameResult.WinnerPlayerID = protocol.Some("P99")
	if _, err := r.send(contradiction); err == nil {
		t.Error("takes a winner who did not play")
	}
	start := &protocol.StartLeague{Header: protocol.NewHeader(protocol.TypeStartLeague, "launcher", protocol.Timestamp(time.Now()), "c")}
	start.LeagueID = "cup"
	if _, err := r.send(start); protocol.CodeOf(err) != protocol.CodeUnknownMessageType {
		t.Errorf("START_LEAGUE: %v", err)
	}
	answer, err := r.calls.Client.Call(t.Context(), r.url, jsonrpc.Message{
		Method: "notify_weather", Params: []byte(`{"message_type":"WEATHER_REPORT","sender":"league_manager"}`),
	})
	if err != nil || answer.Error == nil || answer.Error.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("an unknown message is answered by %+v, %v", answer, err)
	}
	r.wants("start")
}

// TestStrategyFails has each hook fail in each way. The player goes on joining,
// refuses the choice for good, and tells the kinds of fault as the arena would
// record them.
func TestStrategyFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	chooses := func(c strategies.Choice, err error) func(r *rig) {
		return func(r *rig) {
			r.s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
				if t.MatchID == "M1" {
					return c, err
				}
				return strategies.Odd, nil
			}
		}
	}
	observes := func(err error) func(r *rig) {
		return func(r *rig) {
			r.s.observe = func(context.Context, *strategies.Outcome) error { return err }
		}
	}
	starts := func(err error) func(r *rig) {
		return func(r *rig) { r.s.start = func(context.Context, strategies.Setup) error { return err } }
	}
	type faults [3]game.Fault
	const none, forfeit = game.NoFault, game.FaultForfeit
	tests := map[string]struct {
		change func(r *rig)
		want   faults
		ops    []strategies.Op
	}{
		"nothing":         {func(*rig) {}, faults{}, nil},
		"start":           {starts(boom), faults{game.FaultError, forfeit, forfeit}, []strategies.Op{strategies.OpStart}},
		"start overruns":  {starts(strategies.ErrTimeout), faults{game.FaultTimeout, forfeit, forfeit}, []strategies.Op{strategies.OpStart}},
		"choose":          {chooses(0, boom), faults{game.FaultError, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose 2":        {chooses(2, nil), faults{game.FaultInvalid, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose NaN":      {chooses(strategies.Choice(math.NaN()), nil), faults{game.FaultInvalid, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose overruns": {chooses(0, strategies.ErrBudget), faults{game.FaultBudget, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"choose crashes":  {chooses(0, strategies.ErrCrashed), faults{game.FaultCrash, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"choose panics": {func(r *rig) {
			r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) { panic("ouch") }
		}, faults{game.FaultError, game.FaultError, game.FaultError}, []strategies.Op{strategies.OpChoose, strategies.OpChoose, strategies.OpChoose}},
		"choose takes too long": {func(r *rig) {
			r.cfg.ChoiceTimeout = time.Millisecond
			r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
		}, faults{game.FaultTimeout, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"choose never returns": {func(r *rig) {
			r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
				strategies.Lose(ctx, strategies.ErrLost)
				<-t.Context().Done()
				return strategies.Even, nil
			}
		}, faults{game.FaultTimeout, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"observe never returns": {func(r *rig) {
			r.s.observe = func(ctx context.Context, _ *strategies.Outcome) error {
				strategies.Lose(ctx, strategies.ErrLost)
				<-t.Context().Done()
				return nil
			}
		}, faults{none, game.FaultTimeout, forfeit}, []strategies.Op{strategies.OpObserve}},
		"observe":          {observes(boom), faults{none, game.FaultError, forfeit}, []strategies.Op{strategies.OpObserve}},
		"observe overruns": {observes(strategies.ErrBudget), faults{none, game.FaultBudget, forfeit}, []strategies.Op{strategies.OpObserve}},
		"barred":           {func(r *rig) { r.cfg.Barred = true }, faults{game.FaultQuarantined, game.FaultQuarantined, game.FaultQuarantined}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.change)
			r.s.end = func() error { return errBoom } // too late to matter
			r.cfg.Once = true
			r.quit()
			r.open()
			r.run()
			must[*protocol.Ack](r, r.announcement(announced("M1", "P01", "P02", "REF01")))
			for i, fault := range test.want {
				id := fmt.Sprintf("M%d", i+1)
				must[*protocol.GameJoinAck](r, r.invitation(id))
				for range 2 {
					if fault == game.NoFault {
						r.choice(id)
						continue
					}
					refusal := r.refused(r.call(id), 4005, protocol.CodeInvalidState)
					if refusal.Retryable {
						t.Errorf("%s: the refusal is not for good", id)
					}
					if strings.Contains(string(refusal.Data), "boom") || strings.Contains(string(refusal.Data), "ouch") {
						t.Errorf("%s: tells the opponent's friends why: %s", id, refusal.Data)
					}
				}
				must[*protocol.Ack](r, r.over(id))
			}
			must[*protocol.Ack](r, r.leagueCompleted())
			if err := r.finished(); err != nil {
				t.Errorf("the player ended with %v", err)
			}
			var got faults
			for id, a := range r.p.Faults() {
				var i int
				fmt.Sscanf(id, "M%d", &i)
				got[i-1] = a.Fault
			}
			if got != test.want {
				t.Errorf("faults %v, want %v", got, test.want)
			}
			var ops []strategies.Op
			for _, f := range r.p.Failures() {
				ops = append(ops, f.Op)
			}
			if fmt.Sprint(ops) != fmt.Sprint(test.ops) {
				t.Errorf("failures in %v, want %v", ops, test.ops)
			}
		})
	}
}

// TestAuthentication sends every message that comes after the registration with
// no token, a wrong one, those of others, and from others.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	const match = "R1M1"
	messages := map[string]struct {
		make func(r *rig) protocol.Message
		rpc  int
	}{
		"announcement": {func(r *rig) protocol.Message { return r.announcement(announced("R1M7", "P01", "P02", "REF01")) }, 3001},
		"standings":    {func(r *rig) protocol.Message { return r.standings() }, 3001},
		"round":        {func(r *rig) protocol.Message { return r.roundCompleted() }, 3001},
		"league":       {func(r *rig) protocol.Message { return r.leagueCompleted() }, 3001},
		"invitation":   {func(r *rig) protocol.Message { return r.invitation("R2M1") }, 4001},
		"call":         {func(r *rig) protocol.Message { return r.call(match) }, 4001},
		"over":         {func(r *rig) protocol.Message { return r.over(match) }, 4001},
		"error":        {func(r *rig) protocol.Message { return r.gameError(match) }, 4001},
	}
	attacks := map[string]struct {
		change func(r *rig, h *protocol.Header)
		code   protocol.Code
	}{
		"no token":          {func(_ *rig, h *protocol.Header) { h.AuthToken = "" }, protocol.CodeTokenMissing},
		"wrong token":       {func(_ *rig, h *protocol.Header) { h.AuthToken = "tok-LM-0123" }, protocol.CodeTokenInvalid},
		"the player's own":  {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.token }, protocol.CodeTokenInvalid},
		"another match's":   {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys("R9M9", "REF01").Send }, protocol.CodeTokenInvalid},
		"another referee's": {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys(match, "REF02").Send }, protocol.CodeTokenInvalid},
		"the opponent's key": {func(r *rig, h *protocol.Header) {
			h.AuthToken = protocol.NewVerifier("tok-P02-xyz").MatchKeys("cup", match, "REF01").Send
		}, protocol.CodeTokenInvalid},
		"the answer's key": {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys(match, "REF01").Expect }, protocol.CodeTokenInvalid},
		"another league's manager": {func(r *rig, h *protocol.Header) {
			h.AuthToken = protocol.NewVerifier(r.manager.token).ManagerToken("other")
		}, protocol.CodeTokenInvalid},
		"from a player": {func(_ *rig, h *protocol.Header) { h.Sender = "player:P02" }, protocol.CodeTokenInvalid},
		"from the wrong agent": {func(_ *rig, h *protocol.Header) {
			if h.Sender == "league_manager" {
				h.Sender = "referee:REF01"
			} else {
				h.Sender = "league_manager"
			}
		}, protocol.CodeTokenInvalid},
	}
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		for attack, a := range attacks {
			t.Run(fmt.Sprintf("%v, %s", mode, attack), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(r *rig) { r.cfg.Mode = mode })
				r.run()
				must[*protocol.Ack](r, r.announcement(announced(match, "P01", "P02", "REF01")))
				must[*protocol.GameJoinAck](r, r.invitation(match))
				for name, m := range messages {
					bad := m.make(r)
					a.change(r, bad.Head())
					refusal := r.refused(bad, m.rpc, a.code)
					if strings.Contains(string(refusal.Data), r.manager.token) {
						t.Errorf("%s: the answer holds the player's token", name)
					}
				}
				r.wants("start") // and nothing else has happened
				select {
				case e := <-r.events:
					if e.Kind != player.Invited || e.Match != match {
						t.Errorf("event %+v", e)
					}
				default:
				}
				for _, e := range drain(r.events) {
					if e.Kind == player.Completed || e.Kind == player.Ended {
						t.Errorf("event %+v", e)
					}
				}
				// What is in order still is.
				r.choice(match)
				must[*protocol.Ack](r, r.over(match))
				must[*protocol.Ack](r, r.leagueCompleted())
			})
		}
	}
}

func drain(events chan player.Event) []player.Event {
	var out []player.Event
	for {
		select {
		case e := <-events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// TestMatchIsGivenToAnotherReferee: a referee that has the key of a match may
// take it over in the middle. It is answered with its own key and told the same
// choice; so is the first one, should it come back.
func TestMatchIsGivenToAnotherReferee(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		n := 0
		r := newRig(t, func(r *rig) {
			r.cfg.Mode, r.cfg.Data = mode, t.TempDir()
			r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) {
				n++
				return strategies.Choice(n % 2), nil
			}
		})
		r.run()
		for round, referee := range []string{"REF01", "REF02", "REF01", "REF03"} {
			must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", referee)))
			keys := r.manager.keys("R1M1", referee)
			as := func(m protocol.Message) protocol.Message {
				m.Head().Sender, m.Head().AuthToken = "referee:"+referee, keys.Send
				return m
			}
			if round != 2 { // back in the middle of it
				if got := must[*protocol.GameJoinAck](r, as(r.invitation("R1M1"))); got.AuthToken != keys.Expect {
					t.Errorf("%v: %s is answered with another key", mode, referee)
				}
			}
			if round == 3 {
				r.restart()
				r.run()
			}
			got := must[*protocol.ChooseParityResponse](r, as(r.call("R1M1")))
			if got.AuthToken != keys.Expect || got.Chosen() != "even" {
				t.Errorf("%v: %s is told %q, with its key: %v", mode, referee, got.Chosen(), got.AuthToken == keys.Expect)
			}
		}
		forged := r.call("R1M1")
		forged.Sender = "referee:REF02" // with the key of REF01
		r.refused(forged, 4001, protocol.CodeTokenInvalid)
	}
}

// TestForeignManager knows no match keys and signs nothing: the first token of
// a match holds for it, and the player's own goes to nobody but the referee that
// the manager has named.
func TestForeignManager(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	r.run()
	a := r.announcement(announced("R1M1", "P01", "P02", "REF01"))
	a.AuthToken = ""
	must[*protocol.Ack](r, a)
	as := func(h *protocol.Header, referee, token string) { h.Sender, h.AuthToken = "referee:"+referee, token }

	// A stranger is talked to, but learns no token.
	stranger := r.invitation("R1M1")
	as(&stranger.Header, "REF66", "tok-stranger")
	if join := must[*protocol.GameJoinAck](r, stranger); join.AuthToken != "" {
		t.Errorf("a stranger was given %q", join.AuthToken)
	}
	// The match is now under the stranger's token; another token is refused.
	genuine := r.invitation("R1M1")
	as(&genuine.Header, "REF01", "tok-REF01-abc")
	r.refused(genuine, 4001, protocol.CodeTokenInvalid)

	a = r.announcement(announced("R2M1", "P01", "P02", "REF01"))
	a.AuthToken = ""
	must[*protocol.Ack](r, a)
	invitation := r.invitation("R2M1")
	as(&invitation.Header, "REF01", "tok-REF01-abc")
	if join := must[*protocol.GameJoinAck](r, invitation); join.AuthToken != r.manager.token {
		t.Errorf("the announced referee was given %q, want the player's token", join.AuthToken)
	}
	call := r.call("R2M1")
	as(&call.Header, "REF01", "tok-REF66-evil")
	r.refused(call, 4001, protocol.CodeTokenInvalid)
	as(&call.Header, "REF01", "")
	if _, err := r.send(call); err == nil {
		t.Error("a match with a token goes on without")
	}
	as(&call.Header, "REF01", "tok-REF01-abc")
	must[*protocol.ChooseParityResponse](r, call)
	over := r.over("R2M1")
	as(&over.Header, "REF01", "tok-REF66-evil")
	r.refused(over, 4001, protocol.CodeTokenInvalid)
	r.wants("start", "choose R2M1")
}

// TestSquatter opens a match before its referee does, under a manager that has
// not shown its token yet. The referee with the key takes it over.
func TestSquatter(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	r.run()
	squatter := r.invitation("R1M1")
	squatter.AuthToken = "tok-evil"
	must[*protocol.GameJoinAck](r, squatter)
	join := must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	if want := r.manager.keys("R1M1", "REF01").Expect; join.AuthToken != want {
		t.Errorf("signs with %q, want the key", join.AuthToken)
	}
	r.refused(squatter, 4001, protocol.CodeTokenInvalid)
}

package served_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/served"
)

// BenchmarkPython compares the matches of a second that the Python example plays with
// those that a bare loop of three requests for each reaches, beside it in one run.
func BenchmarkPython(b *testing.B) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("needs python3")
	}
	example, err := filepath.Abs("../../docs/examples/player.py")
	if err != nil {
		b.Fatal(err)
	}
	f, err := served.Open(served.Spec{Name: "python", Command: []string{python, example, "{manager}", "{port}"}}, served.Config{Start: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var bare, ours time.Duration
	played := 0
	for b.Loop() { // in turn, so that other programs disturb both
		ours += leaguesOf(b, f)
		bare += bareLoop(b, python, example)
		played += benchSeats * benchMatches
	}
	b.ReportMetric(float64(played)/ours.Seconds(), "matches/s")
	b.ReportMetric(float64(played)/bare.Seconds(), "bare/s")
	b.ReportMetric(100*bare.Seconds()/ours.Seconds(), "%")
}

const (
	benchSeats   = 16
	benchMatches = 40
)

// leaguesOf plays leagues of an agent alone, in lockstep, and returns how long that took.
func leaguesOf(b *testing.B, f *served.Factory) time.Duration {
	batch, err := f.NewBatch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer batch.Close()
	var s strategies.Step
	for i := range benchSeats {
		s.Open = append(s.Open, strategies.OpenSeat{Seat: strategies.SeatID(i), Setup: strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}, Legs: benchMatches, Rounds: benchMatches, Key: game.Key{uint64(i)}}})
	}
	began := time.Now()
	for m := range benchMatches {
		for i := range benchSeats {
			id := fmt.Sprintf("R%dM1", m+1)
			if m > 0 {
				s.Observe = append(s.Observe, strategies.SeatOutcome{Seat: strategies.SeatID(i), Outcome: strategies.Outcome{
					Match: uint64(m - 1), MatchID: fmt.Sprintf("R%dM1", m), Round: m, Opponent: "P02", Role: game.RoleA, Choice: game.Even, OpponentChoice: game.Odd, Number: 2, Drew: true, Result: game.Win, Points: 3,
				}})
			}
			s.Choose = append(s.Choose, strategies.SeatTurn{Seat: strategies.SeatID(i), Turn: strategies.Turn{Match: uint64(m), MatchID: id, Round: m + 1, Opponent: "P02", Role: game.RoleA}})
		}
		if err := batch.Step(b.Context(), &s); err != nil || len(s.Failed) > 0 {
			b.Fatal(err, s.Failed)
		}
		s.Reset()
	}
	return time.Since(began)
}

// bareLoop sends invitation, call and outcome of as many matches, one after the other.
func bareLoop(b *testing.B, python, example string) time.Duration {
	answers := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"player_id":"P01","auth_token":"tok-P01-1"}}`)
	})}
	manager, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = answers.Serve(manager) }()
	defer answers.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, python, example, "http://"+manager.Addr().String()+"/mcp", port)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	url := "http://127.0.0.1:" + port + "/mcp"
	post := func(kind string) error {
		body := strings.ReplaceAll(`{"jsonrpc":"2.0","id":"1","method":"m","params":{"protocol":"league.v2","message_type":"KIND","sender":"referee:REF01","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c","match_id":"R1M1","league_id":"l"}}`, "KIND", kind)
		answer, err := http.Post(url, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		return err
	}
	for post("GAME_INVITATION") != nil { // until it listens
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	for range benchSeats * benchMatches {
		for _, kind := range []string{"GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"} {
			if err := post(kind); err != nil {
				b.Fatal(err)
			}
		}
	}
	return time.Since(began)
}

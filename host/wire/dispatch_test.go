package wire_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

const h = `"protocol":"league.v2","sender":"referee:REF01","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c1"`

func endpoint(mode protocol.Mode, log *slog.Logger) *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec: dialect.NewCodec(mode), Log: log,
		Sender: func() string { return "player:P01" },
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Handlers: map[protocol.Type]wire.Handler{
			protocol.TypeGameOver: func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				_, err := wire.Decode[*protocol.GameOver](in)
				return nil, err
			},
			protocol.TypeGameError: func(context.Context, *wire.Exchange) (protocol.Message, error) {
				return nil, errors.New("the secret of the disk")
			},
			protocol.TypeLeagueQuery: func(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil },
			protocol.TypeRoundCompleted: func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "no")
			},
		},
	}
}

const over = `"message_type":"GAME_OVER","league_id":"cup","round_id":1,"match_id":"R1M1","game_type":"even_odd","auth_token":"t",` +
	`"game_result":{"status":"DRAW","winner_player_id":null,"drawn_number":4,"number_parity":"even","choices":{"P01":"even","P02":"even"},"reason":"x"}`

func TestAnswersInKind(t *testing.T) {
	t.Parallel()
	ack := `"message_type":"GAME_OVER_ACK"`
	for _, tt := range []struct {
		name, body string
		status     int
		want       []string
	}{
		{"contracts", `{"jsonrpc":"2.0","id":7,"method":"notify_match_result","params":{` + h + `,` + over + `}}`, 200,
			[]string{`"id":7`, `"result":{"protocol"`, ack, `"conversation_id":"c1"`, `"match_id":"R1M1"`, `"sender":"player:P01"`, `"timestamp":"2026-01-02T03:04:05Z"`, `"ACKNOWLEDGED"`}},
		{"another method", `{"jsonrpc":"2.0","id":"x","method":"game_over_please","params":{` + h + `,` + over + `}}`, 200, []string{`"id":"x"`, ack}},
		{"tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notify_match_result","arguments":{` + h + `,` + over + `}}}`, 200, []string{`"structuredContent":{`, `"content":[`, ack}},
		{"tool io", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"tool":"notify_match_result","input":{` + h + `,` + over + `}}}`, 200, []string{`"tool":"notify_match_result"`, `"output":{`, ack}},
		{"envelope", `{"jsonrpc":"2.0","id":1,"method":"league.handle","params":{"envelope":{` + h + `,"message_type":"GAME_OVER","match_id":"R1M1"},"payload":{` + over[strings.Index(over, `"game_type"`):] + `}}}`, 200, []string{`"envelope":{`, `"payload":{`, ack}},
		{"bare", `{` + h + `,` + over + `}`, 200, []string{`{"protocol"`, ack}},
		{"an error in the envelope", `{"jsonrpc":"2.0","id":1,"method":"league.handle","params":{"envelope":{` + h + `,"message_type":"ROUND_COMPLETED"},"payload":{}}}`, 200, []string{`"code":3001`, `"data":{"envelope"`, `E012`}},
		{"an error in a tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notify_round_completed","arguments":{` + h + `,"message_type":"ROUND_COMPLETED"}}}`, 200, []string{`"isError":true`, `E012`}},
		{"no id", `{"jsonrpc":"2.0","method":"notify_match_result","params":{` + h + `,` + over + `}}`, 400, []string{`"id":null`, `-32600`}},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"notify_match_result","params":{` + h + `,` + over + `}}`, 400, []string{`"id":null`, `-32600`}},
		{"neither method nor type", `{"jsonrpc":"2.0","id":1,"method":"foo","params":{}}`, 200, []string{`-32601`, `E047`}},
		{"a type for others", `{"jsonrpc":"2.0","id":1,"method":"start_league","params":{"message_type":"START_LEAGUE"}}`, 200, []string{`-32601`, `E047`}},
		{"nothing to answer with", `{"jsonrpc":"2.0","id":1,"method":"league_query","params":{"message_type":"LEAGUE_QUERY"}}`, 200, []string{`-32601`}},
		{"method against type", `{"jsonrpc":"2.0","id":1,"method":"notify_round","params":{` + h + `,` + over + `}}`, 400, []string{`-32600`}},
		{"an internal error", `{"jsonrpc":"2.0","id":1,"method":"notify_game_error","params":{"message_type":"GAME_ERROR"}}`, 200, []string{`-32603`, `E049`}},
		{"a missing field", `{"jsonrpc":"2.0","id":1,"method":"notify_match_result","params":{"message_type":"GAME_OVER"}}`, 200, []string{`-32602`, `E003`}},
		{"an error report", `{"jsonrpc":"2.0","id":1,"method":"league_error","params":{"message_type":"LEAGUE_ERROR","error_code":"E001"}}`, 200, []string{`"result":{"status":"ACKNOWLEDGED"}`}},
		{"an error report, notified", `{"jsonrpc":"2.0","method":"league_error","params":{"message_type":"LEAGUE_ERROR"}}`, 202, []string{""}},
		{"a notification of MCP", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			mode := protocol.Strict
			if tt.name == "bare" || strings.Contains(tt.name, "envelope") || tt.name == "nothing to answer with" {
				mode = protocol.Tolerant
			}
			var log bytes.Buffer
			status, answer := serve(t, endpoint(mode, slog.New(slog.NewTextHandler(&log, nil))), tt.body)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(answer, want) || want == "" && answer != "" {
					t.Errorf("answered %s, want %s", answer, want)
				}
			}
			if strings.Contains(answer, "secret") || strings.Contains(log.String(), "secret") != (tt.name == "an internal error") {
				t.Errorf("answered %s, logged %s", answer, log.String())
			}
		})
	}
}

func TestABusyServerSaysSoInTheLeaguesWords(t *testing.T) {
	t.Parallel()
	sent := wire.New(wire.Config{Agent: endpoint(protocol.Strict, nil)}).Refuse(t.Context(), new(jsonrpc.Request), &jsonrpc.Refusal{Reason: jsonrpc.ReasonBusy, Detail: "too much"})
	if sent == nil || sent.Code != jsonrpc.CodeBusy || !strings.Contains(string(sent.Data), `"error_code":"E048"`) || !strings.Contains(string(sent.Data), "too much") {
		t.Errorf("%+v", sent)
	}
}

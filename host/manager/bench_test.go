package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// cheap is an agent that costs as little as possible, so that a benchmark
// measures the manager.
type cheap struct {
	net     *jsonrpc.Loopback
	manager string
	client  *jsonrpc.Client
	id      string
	token   string
	running *sync.WaitGroup
}

func (c *cheap) Handle(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
	kind, _ := protocol.TypeOfMethod(req.Method)
	if kind == protocol.TypeRoundAnnouncement && c.running != nil {
		params := req.Params
		c.running.Go(func() { c.conduct(params) })
	}
	return jsonrpc.Response{Result: []byte(`{"protocol":"league.v2","message_type":"` + string(kind) +
		`_ACK","timestamp":"2026-03-14T09:00:00Z","status":"ACKNOWLEDGED","player_id":"` + c.id + `","round_id":1}`)}
}

// conduct reports every match of a round as a draw.
func (c *cheap) conduct(params []byte) {
	var told struct {
		Round   int `json:"round_id"`
		Matches []struct {
			ID string `json:"match_id"`
			A  string `json:"player_A_id"`
			B  string `json:"player_B_id"`
		} `json:"matches"`
	}
	if err := json.Unmarshal(params, &told); err != nil {
		panic(err)
	}
	for _, m := range told.Matches {
		report := fmt.Sprintf(`{"protocol":"league.v2","message_type":"MATCH_RESULT_REPORT","sender":"referee:%s","timestamp":"2026-03-14T09:00:00Z",`+
			`"conversation_id":"c","auth_token":"%s","league_id":"cup","round_id":%d,"match_id":"%s","game_type":"even_odd","result":{"winner":null,`+
			`"score":{"%s":1,"%s":1},"details":{"drawn_number":8,"number_parity":"even","choices":{"%s":"even","%s":"even"},"status":"DRAW"}}}`,
			c.id, c.token, told.Round, m.ID, m.A, m.B, m.A, m.B)
		answer, err := c.client.Call(context.Background(), c.manager, jsonrpc.Message{Method: "report_match_result", Params: []byte(report)})
		if err != nil || answer.Kind != jsonrpc.AnswerResult {
			panic(fmt.Sprint(err, answer))
		}
	}
}

// bench plays a league of cheap agents.
func bench(b *testing.B, players, legs int, dir string) *manager.Manager {
	b.Helper()
	net := new(jsonrpc.Loopback)
	m, err := manager.New(manager.Config{
		LeagueID: "cup", Players: players, Legs: legs, Probe: manager.ProbeOff, AllowHosts: []string{"*"}, DataDir: dir,
		Caller: &wire.Caller{Client: jsonrpc.NewClient(net.From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var serving, running sync.WaitGroup
	serve := func(name string, h jsonrpc.Handler) string {
		srv, err := net.Listen(name, jsonrpc.Config{MaxPerPeer: -1, MaxConcurrent: -1})
		if err != nil {
			b.Fatal(err)
		}
		serving.Go(func() { srv.Serve(ctx, h) })
		return srv.URL()
	}
	url := serve("manager", m.Dispatcher())
	result := make(chan error, 1)
	go func() { result <- m.Run(ctx) }()
	for i := range players + 1 {
		c := &cheap{net: net, manager: url, client: jsonrpc.NewClient(net.From(fmt.Sprint(i)), jsonrpc.ClientConfig{}), id: game.PlayerID(i - 1)}
		method, kind, role, meta := "register_player", "LEAGUE_REGISTER_REQUEST", "player", "player_meta"
		if i == 0 {
			method, kind, role, meta = "register_referee", "REFEREE_REGISTER_REQUEST", "referee", "referee_meta"
			c.id, c.running = "REF01", &running
		}
		endpoint := serve(c.id, c)
		answer, err := c.client.Call(ctx, url, jsonrpc.Message{Method: method, Params: fmt.Appendf(nil,
			`{"protocol":"league.v2","message_type":"%s","sender":"%s:%s","timestamp":"2026-03-14T09:00:00Z","conversation_id":"c",`+
				`"%s":{"display_name":"%s","version":"1","game_types":["even_odd"],"contact_endpoint":"%s","max_concurrent_matches":9}}`,
			kind, role, c.id, meta, c.id, endpoint)})
		if err != nil {
			b.Fatal(err)
		}
		var got struct {
			Token string `json:"auth_token"`
		}
		if err := json.Unmarshal(answer.Result, &got); err != nil || got.Token == "" {
			b.Fatal(err, string(answer.Raw))
		}
		c.token = got.Token
	}
	if err := <-result; err != nil {
		b.Fatal(err)
	}
	running.Wait()
	stop()
	serving.Wait()
	return m
}

// The manager's part of a league of four players, all its messages included:
// 5 registrations, 50 notifications and 6 reports.
func BenchmarkLeagueOfFour(b *testing.B) {
	for b.Loop() {
		bench(b, 4, 1, "")
	}
}

func BenchmarkMatches(b *testing.B) {
	for _, players := range []int{10, 50, 100, 200} {
		for _, dir := range []string{"", "journal"} {
			b.Run(fmt.Sprintf("players=%d/%s", players, dir), func(b *testing.B) {
				matches := 0
				begin := time.Now()
				for b.Loop() {
					if dir != "" {
						dir = b.TempDir()
					}
					matches += len(bench(b, players, 1, dir).Results())
				}
				b.ReportMetric(float64(time.Since(begin).Microseconds())/float64(matches), "us/match")
			})
		}
	}
}

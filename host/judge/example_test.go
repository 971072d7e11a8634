package judge_test

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/trace"
)

// The referee reports another choice than the player gave.
func Example() {
	const recording = `{"trace":"strategylab/trace/v1","command":"player","began":"2026-03-01T12:00:00Z"}
{"time":"2026-03-01T12:00:01Z","exchange":1,"part":"request","agent":"player","direction":"in","transport":"http","peer":"10.0.0.9","body":{"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2026-03-01T12:00:01Z","conversation_id":"c","match_id":"R1M1","player_id":"P01"}}}
{"time":"2026-03-01T12:00:01Z","exchange":1,"part":"answer","agent":"player","direction":"out","transport":"http","peer":"10.0.0.9","status":200,"latency_ms":2,"body":{"jsonrpc":"2.0","id":1,"result":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","sender":"player:P01","timestamp":"2026-03-01T12:00:01Z","match_id":"R1M1","player_id":"P01","parity_choice":"odd"}}}
{"time":"2026-03-01T12:00:02Z","exchange":2,"part":"request","agent":"player","direction":"in","transport":"http","peer":"10.0.0.9","body":{"jsonrpc":"2.0","id":2,"method":"notify_match_result","params":{"protocol":"league.v2","message_type":"GAME_OVER","sender":"referee:REF01","timestamp":"2026-03-01T12:00:02Z","conversation_id":"c","match_id":"R1M1","game_result":{"status":"DRAW","drawn_number":7,"number_parity":"odd","choices":{"P01":"even","P02":"even"}}}}}
{"time":"2026-03-01T12:00:02Z","exchange":2,"part":"answer","agent":"player","direction":"out","transport":"http","peer":"10.0.0.9","status":200,"body":{"jsonrpc":"2.0","id":2,"result":{"protocol":"league.v2","message_type":"GAME_OVER_ACK","sender":"player:P01","timestamp":"2026-03-01T12:00:02Z","match_id":"R1M1","status":"ACKNOWLEDGED"}}}
`
	rec, err := trace.Read(strings.NewReader(recording))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range judge.Divide(rec.Exchanges) {
		for _, o := range l.Apply(judge.Rules(judge.Options{})) {
			if o.Answer == judge.Broken {
				fmt.Printf("%s: %s\n  %s\n", o.ID, o.Sentence, o.Findings[0].Text)
			}
		}
	}
	// Output:
	// choices: a result contains the choices that the players gave
	//   R1M1: P01 answered odd, but P01 received even
}

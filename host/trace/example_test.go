package trace_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/strategylab/strategylab/host/trace"
)

// A recording is read and printed as a conversation.
func Example() {
	const recording = `{"trace":"strategylab/trace/v1","command":"player","began":"2026-03-01T12:00:00Z"}
{"time":"2026-03-01T12:00:01Z","exchange":1,"part":"request","agent":"player","direction":"in","transport":"http","peer":"10.0.0.9","body":{"jsonrpc":"2.0","id":2,"method":"choose_parity","params":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2026-03-01T12:00:01Z","conversation_id":"c","match_id":"R1M1","player_id":"P01"}}}
{"time":"2026-03-01T12:00:01.002Z","exchange":1,"part":"answer","agent":"player","direction":"out","transport":"http","peer":"10.0.0.9","status":200,"latency_ms":2,"body":{"jsonrpc":"2.0","id":2,"result":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","sender":"player:P01","timestamp":"2026-03-01T12:00:01Z","match_id":"R1M1","player_id":"P01","parity_choice":"odd"}}}
`
	rec, err := trace.Read(strings.NewReader(recording))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := trace.Show(os.Stdout, rec.Select(trace.Filter{Match: "R1M1"}), trace.Format{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 12:00:01.000  referee:REF01 -> player  CHOOSE_PARITY_CALL R1M1  [contracts]
	//                                        = CHOOSE_PARITY_RESPONSE: odd, 2ms
}

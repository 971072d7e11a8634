package league_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/manager/league"
)

// The table of a league follows from its journal.
func ExampleReplay() {
	verifier := strings.Repeat("0", 64) // of the agents' tokens
	var events []journal.Event
	for i, e := range [][2]string{
		{"registered", `{"role":"player","id":"P01","display_name":"Ada","verifier":"` + verifier + `"}`},
		{"registered", `{"role":"player","id":"P02","display_name":"Bob","verifier":"` + verifier + `"}`},
		{"registered", `{"role":"referee","id":"REF01","display_name":"Referee","verifier":"` + verifier + `"}`},
		{"started", `{"legs":1,"seats":["P01","P02"]}`},
		{"assigned", `{"round":1,"referees":["REF01"]}`},
		{"reported", `{"match":"R1M1","referee":"REF01","a":{"result":"loss","choice":"odd"},"b":{"result":"win","choice":"even"},"number":4}`},
	} {
		events = append(events, journal.Event{Seq: uint64(i + 1), Type: e[0], Data: json.RawMessage(e[1])})
	}
	table, err := league.Replay("cup", events)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range table {
		fmt.Println(s.Rank, s.DisplayName, s.Points)
	}
	// Output:
	// 1 Bob 3
	// 2 Ada 0
}

package eventlog_test

import (
	"fmt"
	"os"

	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// With a seed, the same records give the same bytes.
func Example() {
	dir, err := os.MkdirTemp("", "eventlog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log, err := eventlog.Open(eventlog.Config{Data: dir, Seed: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	log.Append(eventlog.Record{Request: []byte("7"), Transport: "http", Route: "/mcp", Method: "league_query", Status: 200})
	log.Close()
	text, err := os.ReadFile(log.Name())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// {"timestamp":"2025-01-01T00:00:00.000Z","ids":{"event":"b0e643d0-f231-5578-9bbe-007c1d0cc3d1","request":7,"conversation":null},"transport":"http","route":"/mcp","method":"league_query","status":"ok","http_status":200,"duration_ms":0,"error":null,"metadata":{"schemaVersion":"1","deterministic":true}}
}

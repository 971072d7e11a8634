package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/export"
	"github.com/strategylab/strategylab/analysis/export/parquet"
)

// Example makes a file of one row.
func Example() {
	var file bytes.Buffer
	err := parquet.Write(&file, strings.NewReader(`{"rows":"matches","plan":{"seed":7}}
{"league":3,"match":"R1M1","round":1,"player_a":"mine","player_b":"random","number":0}
`))
	fmt.Println(err)
	rows, err := parquetgo.Read[export.MatchRow](bytes.NewReader(file.Bytes()), int64(file.Len()))
	fmt.Println(len(rows), rows[0].League, rows[0].PlayerB, *rows[0].Number, err)
	f, err := parquetgo.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	plan, _ := f.Lookup(export.PlanKey)
	fmt.Println(plan, err)
	// Output:
	// <nil>
	// 1 3 random 0 <nil>
	// {"seed":7} <nil>
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                            "read header: EOF",
		`{"rows":"rounds","plan":{}}`: `read header: rows are "rounds"; want leagues, pairs or matches`,
		`{"rows":"leagues","plan":{}}{"league":"first"}`: "read row 0: ",
		`{"rows":"leagues","plan":{}}{"league":1}{`:      "read row 1: unexpected EOF",
	} {
		attest.Fails(t, parquet.Write(io.Discard, strings.NewReader(in)), want, "%q", in)
	}
}

// Package parquet writes Parquet files, the only package that links a library for them.
// It is a program of its own, cmd/strategylab-parquet, so that the others stay small.
package parquet

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/strategylab/strategylab/analysis/export"
)

// Write makes a Parquet file of what export.NewWriter writes for it. The file is whole if
// there is no error.
func Write(file io.Writer, rows io.Reader) error {
	in := json.NewDecoder(rows)
	var h export.Header
	if err := in.Decode(&h); err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	switch h.Rows {
	case export.Leagues:
		return write[export.LeagueRow](file, in, h)
	case export.Pairs:
		return write[export.PairRow](file, in, h)
	case export.Matches:
		return write[export.MatchRow](file, in, h)
	}
	return fmt.Errorf("read header: rows are %q; want %s, %s or %s", h.Rows, export.Leagues, export.Pairs, export.Matches)
}

const (
	// A row group is held in memory until it is full.
	rowGroup = 1 << 17
	// The library converts many rows at once faster than one.
	batch = 1 << 8
)

func write[R any](file io.Writer, in *json.Decoder, h export.Header) error {
	out := parquet.NewGenericWriter[R](file, parquet.Compression(&parquet.Snappy), // which every reader knows
		parquet.MaxRowsPerRowGroup(rowGroup), parquet.KeyValueMetadata(export.PlanKey, string(h.Plan)))
	rows := make([]R, 0, batch)
	for n := 0; ; n++ {
		var row R
		err := in.Decode(&row)
		if err == nil {
			rows = append(rows, row)
		} else if err != io.EOF {
			return fmt.Errorf("read row %d: %w", n, err)
		}
		if len(rows) == batch || err == io.EOF {
			if _, err := out.Write(rows); err != nil {
				return fmt.Errorf("write rows: %w", err)
			}
			rows = rows[:0]
		}
		if err == io.EOF {
			break
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

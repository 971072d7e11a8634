// Package export writes the leagues of a run as rows for other programs: Parquet, CSV,
// or JSON with one object per line. A row is a player in a league, the unit of
// replication that statistics should use, or a single match. Rows are written as
// leagues are read, in memory that does not grow with their number.
package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/strategylab/strategylab/host/results"
)

// Format is a file format.
type Format string

// The formats. JSON has one object per line.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	JSON    Format = "json"
)

// Kind is what a row is about.
type Kind string

// The kinds of row: a player in a league, or a match.
const (
	Leagues Kind = "leagues"
	Matches Kind = "matches"
)

// PlanKey is the metadata key of a Parquet file for the plan of its run, as JSON.
const PlanKey = "strategylab.plan"

// Writer writes the rows of leagues. It is for one goroutine at a time.
type Writer struct {
	append func(l *results.League) (int, error)
	close  func() error
	rows   int64
}

// NewWriter returns a writer of rows for the leagues of a plan. The output is complete
// after Close.
func NewWriter(w io.Writer, format Format, kind Kind, plan results.Plan) (*Writer, error) {
	if kind == Matches {
		return writer(w, format, plan, matchRows)
	}
	return writer(w, format, plan, leagueRows)
}

// row is what a line is made from.
type row interface {
	header() []string
	cells() []string
}

// table writes rows in a format.
type table[R any] interface {
	write(rows []R) error
	close() error
}

func writer[R row](w io.Writer, format Format, plan results.Plan, of func(results.Plan) (func(*results.League) ([]R, error), error)) (*Writer, error) {
	rows, err := of(plan)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	var t table[R]
	switch format {
	case Parquet:
		text, err := json.Marshal(plan)
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		t = newParquet[R](w, string(text))
	case CSV:
		t = newLines[R](w)
	case JSON:
		t = newObjects[R](w)
	default:
		return nil, fmt.Errorf("export: unknown format %q; want parquet, csv or json", format)
	}
	return &Writer{
		append: func(l *results.League) (int, error) {
			list, err := rows(l)
			if err != nil {
				return 0, err
			}
			return len(list), t.write(list)
		},
		close: t.close,
	}, nil
}

// Append writes the rows of a league.
func (w *Writer) Append(l *results.League) error {
	n, err := w.append(l)
	if err != nil {
		return fmt.Errorf("export league %d: %w", l.Index, err)
	}
	w.rows += int64(n)
	return nil
}

// Rows is the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }

// Close writes buffered rows. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// A row group is held in memory until it is full.
const rowGroup = 1 << 17

type columns[R any] struct{ w *parquet.GenericWriter[R] }

// newParquet compresses with Snappy, which every reader knows.
func newParquet[R any](w io.Writer, plan string) columns[R] {
	return columns[R]{parquet.NewGenericWriter[R](w,
		parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.KeyValueMetadata(PlanKey, plan))}
}

func (c columns[R]) write(rows []R) error {
	_, err := c.w.Write(rows)
	return err
}

func (c columns[R]) close() error { return c.w.Close() }

type lines[R row] struct{ w *csv.Writer }

func newLines[R row](w io.Writer) lines[R] {
	var none R
	l := lines[R]{csv.NewWriter(w)}
	_ = l.w.Write(none.header()) // the writer keeps its error
	return l
}

func (l lines[R]) write(rows []R) error {
	for _, r := range rows {
		if err := l.w.Write(r.cells()); err != nil {
			return err
		}
	}
	return nil
}

func (l lines[R]) close() error {
	l.w.Flush()
	return l.w.Error()
}

type objects[R any] struct {
	buf *bufio.Writer
	enc *json.Encoder
}

func newObjects[R any](w io.Writer) objects[R] {
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return objects[R]{buf, enc}
}

func (o objects[R]) write(rows []R) error {
	for i := range rows {
		if err := o.enc.Encode(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o objects[R]) close() error { return o.buf.Flush() }

// Package export writes what happened in the leagues of a run as rows for other
// programs: Parquet, CSV, or JSON with one object a line. A row is a player in a
// league, which is the unit of replication and what statistics should be made
// from, or a single match. Rows are written as leagues are read, in memory that
// does not grow with their number.
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

// Format is how rows are written.
type Format string

// The formats. JSON has one object a line.
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

// PlanKey is under what a Parquet file keeps the plan of its run, as JSON.
const PlanKey = "strategylab.plan"

// Writer writes the rows of leagues. It is for one goroutine at a time.
type Writer struct {
	append func(l *results.League) (int, error)
	close  func() error
	rows   int64
}

// NewWriter returns a writer of rows of a kind in a format for the leagues of a
// plan. What it writes is whole after Close.
func NewWriter(w io.Writer, format Format, kind Kind, plan results.Plan) (*Writer, error) {
	if kind == Matches {
		return writer(w, format, plan, matchRows)
	}
	return writer(w, format, plan, leagueRows)
}

// row is what a line can be made from.
type row interface {
	header() []string
	cells() []string
}

// table takes rows in a format.
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
		return nil, fmt.Errorf("export: there is no format %q", format)
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

// Rows is how many rows have been written.
func (w *Writer) Rows() int64 { return w.rows }

// Close writes what is still held back. It does not close what is written to.
func (w *Writer) Close() error {
	if err := w.close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Rows of a row group are held in memory until it is full.
const rowGroup = 1 << 17

type columns[R any] struct{ w *parquet.GenericWriter[R] }

// newParquet compresses by Snappy, which every reader knows.
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

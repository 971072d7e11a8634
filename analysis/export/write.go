// Package export writes the leagues of a run as rows for other programs: CSV, a JSON array
// of objects, an object a line (NDJSON), or what cmd/strategylab-parquet makes a Parquet file of. A row is a player in a league, the unit of
// replication that statistics should use, two players in a league, or a single match. Rows are written as
// leagues are read, in memory that does not grow with their number.
package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/host/results"
)

// Format is a file format.
type Format string

// The formats. JSON is one array, NDJSON an object a line. For Parquet a [Writer] writes a
// line about columns and NDJSON: strategylab-parquet makes the file of them.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	JSON    Format = "json"
	NDJSON  Format = "ndjson"
)

// Kind is what a row is about.
type Kind string

// The kinds of row: a player in a league, two players in a league, or a match.
const (
	Leagues Kind = "leagues"
	Pairs   Kind = "pairs"
	Matches Kind = "matches"
)

// header is the first line of what a Parquet file is made of. The lines below are its
// rows, as NDJSON.
type header struct {
	Columns  []column          `json:"columns"`
	Metadata map[string]string `json:"metadata"`
}

// column is a member of the rows: its type as Go writes it, and options of the encoding.
type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Encoding string `json:"encoding,omitempty"`
}

// columns are those of rows of type R, in order.
func columns[R any]() (list []column) {
	for f := range reflect.TypeFor[R]().Fields() {
		list = append(list, column{f.Tag.Get("json"), f.Type.String(), f.Tag.Get("parquet")})
	}
	return list
}

// Writer writes the rows of leagues. It is for one goroutine at a time.
type Writer struct {
	append func(l *results.League) (int, error)
	close  func() error
	rows   int64
}

// NewWriter returns a writer of rows for the leagues of a plan. The output is complete
// after Close.
func NewWriter(w io.Writer, format Format, kind Kind, plan results.Plan) (*Writer, error) {
	switch kind {
	case Matches:
		return writer(w, format, plan, matchRows)
	case Pairs:
		return writer(w, format, plan, pairRows)
	}
	return writer(w, format, plan, leagueRows)
}

func writer[R any](w io.Writer, format Format, plan results.Plan, of func(results.Plan) (func(*results.League) ([]R, error), error)) (*Writer, error) {
	rows, err := of(plan)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	var write func([]R) error
	var end func() error
	switch format {
	case CSV:
		write, end = lines[R](w)
	case JSON, NDJSON, Parquet:
		var head any
		if format == Parquet {
			text, err := json.Marshal(plan)
			if err != nil {
				return nil, fmt.Errorf("export: %w", err)
			}
			head = header{columns[R](), map[string]string{"strategylab.plan": string(text)}}
		}
		write, end = objects[R](w, head, format == JSON)
	default:
		return nil, fmt.Errorf("export: unknown format %q; want parquet, csv, json or ndjson", format)
	}
	return &Writer{
		append: func(l *results.League) (int, error) {
			list, err := rows(l)
			if err != nil {
				return 0, err
			}
			return len(list), write(list)
		},
		close: end,
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

// objects writes rows as objects, one a line: below a first one, unless head is nil, or as an
// array.
func objects[R any](w io.Writer, head any, array bool) (write func([]R) error, end func() error) {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var failed error
	if head != nil {
		failed = enc.Encode(head)
	}
	separator := "["
	write = func(rows []R) error {
		for i := range rows {
			if array {
				_, _ = out.WriteString(separator) // the writer keeps its error
				separator = ","
			}
			if failed == nil {
				failed = enc.Encode(&rows[i])
			}
		}
		return failed
	}
	end = func() error {
		if array {
			_, _ = out.WriteString(strings.TrimRight(separator, ",") + "]\n")
		}
		return errors.Join(failed, out.Flush())
	}
	return write, end
}

// lines writes rows as CSV, under a header line. Columns have the names of JSON.
func lines[R any](w io.Writer) (write func([]R) error, end func() error) {
	out := csv.NewWriter(w)
	var line []string
	for _, c := range columns[R]() {
		line = append(line, c.Name)
	}
	_ = out.Write(line) // the writer keeps its error
	write = func(rows []R) error {
		for i := range rows {
			row := reflect.ValueOf(&rows[i]).Elem()
			for k := range line {
				line[k] = cell(row.Field(k).Interface())
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	}
	end = func() error {
		out.Flush()
		return out.Error()
	}
	return write, end
}

func cell(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case *int32:
		if v == nil {
			return ""
		}
		return fmt.Sprint(*v)
	}
	return fmt.Sprint(v)
}

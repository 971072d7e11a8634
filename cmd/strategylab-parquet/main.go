// Command strategylab-parquet makes a Parquet file of rows. "strategylab export" starts it,
// and finds it beside itself or on PATH. It is a module of its own, so that nobody else builds
// the codecs of that format. It knows no run: its standard input is a line that describes
// columns and metadata, and below it a JSON object a line for each row; the file is its
// standard output.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

func main() {
	if info, err := os.Stdin.Stat(); len(os.Args) > 1 || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "strategylab-parquet: other programs start this one; run strategylab export DIR --out leagues.parquet")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "strategylab-parquet:", err)
		os.Exit(1)
	}
}

// header is the first line of the input.
type header struct {
	Columns  []column          `json:"columns"`
	Metadata map[string]string `json:"metadata"` // of the file
}

// A column has the name of a member of each row.
type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`     // one of types
	Encoding string `json:"encoding"` // options of the library: "dict", "delta", "optional"
}

// types are those of columns. A pointer is null where a row has null.
var types = map[string]reflect.Type{
	"int32": reflect.TypeFor[int32](), "*int32": reflect.TypeFor[*int32](),
	"float64": reflect.TypeFor[float64](), "string": reflect.TypeFor[string](),
}

// row is a struct with a field for each column.
func (h header) row() (reflect.Type, error) {
	if len(h.Columns) == 0 {
		return nil, errors.New("read header: it has no columns")
	}
	var fields []reflect.StructField
	for i, c := range h.Columns {
		t, ok := types[c.Type]
		if !ok {
			return nil, fmt.Errorf("read header: column %q is of type %q; want int32, *int32, float64 or string", c.Name, c.Type)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("Column", i), Type: t,
			Tag: reflect.StructTag(fmt.Sprintf("json:%q parquet:%q", c.Name, c.Name+","+c.Encoding))})
	}
	return reflect.StructOf(fields), nil
}

// A row group is held in memory until it is full.
const rowGroup = 1 << 17

// write makes a file of rows, in memory that does not grow with their number. The file is
// whole only if there is no error.
func write(file io.Writer, rows io.Reader) error {
	in := json.NewDecoder(rows)
	var h header
	if err := in.Decode(&h); err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	t, err := h.row()
	if err != nil {
		return err
	}
	options := []parquet.WriterOption{
		parquet.SchemaOf(reflect.New(t).Interface()),
		parquet.Compression(&parquet.Snappy), // which every reader knows
		parquet.MaxRowsPerRowGroup(rowGroup),
	}
	for key, value := range h.Metadata {
		options = append(options, parquet.KeyValueMetadata(key, value))
	}
	out := parquet.NewWriter(file, options...)
	for n := 0; ; n++ {
		row := reflect.New(t)
		if err := in.Decode(row.Interface()); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("read row %d: %w", n, err)
		}
		if err := out.Write(row.Interface()); err != nil {
			return fmt.Errorf("write row %d: %w", n, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

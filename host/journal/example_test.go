package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/journal"
)

// What was appended is there again when the journal is opened the next time.
func ExampleRecover() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "journal")
	show := func(e journal.Event) error {
		fmt.Println(e.Seq, e.Type, string(e.Data))
		return nil
	}
	for _, player := range []string{"P01", "P02", "P03"} {
		j, err := journal.Recover(name, journal.Config{}, slog.New(slog.DiscardHandler), show)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := errors.Join(j.Append(context.Background(), "registered", player), j.Close()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1 registered "P01"
	// 1 registered "P01"
	// 2 registered "P02"
}

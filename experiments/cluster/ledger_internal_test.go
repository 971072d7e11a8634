package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// How many leagues stay follows from who was caught and what it has played, also by an
// earlier process that was killed while it wrote.
func TestLedger(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines    string
		recorded int
		keep     int
	}{
		"nothing":                   {"", 0, 0},
		"nobody was caught":         {`{"first":0,"worker":"a"}`, 50, 50},
		"no ledger, nobody caught":  {"", 50, 50},
		"the second":                {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"first":30,"worker":"a"} {"worker":"b","caught":"x"}`, 50, 20},
		"the first":                 {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"worker":"a","caught":"x"}`, 50, 0},
		"both":                      {`{"first":0,"worker":"c"} {"first":7,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"} {"worker":"a","caught":"x"}`, 50, 7},
		"it has played nothing":     {`{"first":0,"worker":"a"} {"worker":"b","caught":"x"}`, 50, 50},
		"its leagues were lost":     {`{"first":0,"worker":"a"} {"first":50,"worker":"b"} {"worker":"b","caught":"x"}`, 50, 50},
		"they were played again":    {`{"first":0,"worker":"b"} {"worker":"b","caught":"x"} {"first":0,"worker":"b","removed":9} {"first":0,"worker":"a"}`, 50, 50},
		"removed, and another lies": {`{"first":0,"worker":"b"} {"worker":"b","caught":"x"} {"first":0,"worker":"b","removed":9} {"first":0,"worker":"a"} {"first":9,"worker":"c"} {"worker":"c","caught":"y"}`, 50, 9},
		"unknown before":            {`{"first":10,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"}`, 50, 0},
		"a line is incomplete":      {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"} {"first":2`, 50, 20},
	} {
		path := filepath.Join(t.TempDir(), LedgerFile)
		text := strings.ReplaceAll(tc.lines, "} {", "}\n{")
		if strings.HasSuffix(text, "}") {
			text += "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, keep, err := OpenLedger(path, tc.recorded)
		if err != nil || keep != tc.keep {
			t.Fatalf("%s: %d leagues stay, %v; want %d", name, keep, err, tc.keep)
		}
		if err := errors.Join(l.Cut(keep, tc.recorded), l.add(span{keep, "z", ""}), l.Close()); err != nil {
			t.Fatal(err)
		}
		again, keep, err := OpenLedger(path, tc.recorded)
		if err != nil || keep != tc.recorded || !again.played("z") && tc.recorded > tc.keep {
			t.Errorf("%s: after they were played again, %d leagues stay, %v; want %d", name, keep, err, tc.recorded)
			continue
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

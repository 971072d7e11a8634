package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/journal"
)

func mustOpen(t testing.TB, name string) (*journal.Journal, journal.Opened) {
	t.Helper()
	j, found, err := journal.Open(name, journal.Config{})
	must(t, err)
	return j, found
}

func fill(t testing.TB, name string, n int) {
	t.Helper()
	j, _ := mustOpen(t, name)
	for i := range n {
		must(t, j.Append(t.Context(), "counted", map[string]int{"i": i}))
	}
	must(t, j.Close())
}

// threeEvents returns the file of a journal of three events.
func threeEvents(t *testing.T) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "journal")
	fill(t, name, 3)
	whole, err := os.ReadFile(name)
	must(t, err)
	return whole
}

func TestEventsComeBackInOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "leagues", "journal")
	fill(t, name, 5)
	fill(t, name, 3) // goes on where the first left off
	j, found := mustOpen(t, name)
	defer j.Close()
	if len(found.Events) != 8 || found.Repaired != "" {
		t.Fatalf("%d events, repaired %q; want 8 and nothing", len(found.Events), found.Repaired)
	}
	for i, e := range found.Events {
		want := fmt.Sprintf(`{"i":%d}`, []int{0, 1, 2, 3, 4, 0, 1, 2}[i])
		if e.Seq != uint64(i+1) || e.Type != "counted" || string(e.Data) != want {
			t.Errorf("event %d is %d %s %s, want %s", i, e.Seq, e.Type, e.Data, want)
		}
	}
}

func TestConcurrentAppendsAreAllKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j, _ := mustOpen(t, name)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := j.Append(t.Context(), "x", [2]int{w, i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, j.Close())
	j, found := mustOpen(t, name)
	defer j.Close()
	next := map[int]int{}
	for _, e := range found.Events {
		var v [2]int
		must(t, json.Unmarshal(e.Data, &v))
		if v[1] != next[v[0]] {
			t.Fatalf("writer %d: event %d came when %d was due", v[0], v[1], next[v[0]])
		}
		next[v[0]]++
	}
	if len(found.Events) != 400 {
		t.Errorf("%d events, want 400", len(found.Events))
	}
}

func TestDamageIsRefused(t *testing.T) {
	dir := t.TempDir()
	whole := threeEvents(t)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for what, content := range map[string][]byte{
		"a changed byte":       bytes.Replace(whole, []byte(`"i":1`), []byte(`"i":7`), 1),
		"a missing event":      append(bytes.Clone(lines[0]), lines[2]...),
		"a repeated event":     append(bytes.Clone(whole), lines[2]...),
		"a line of other text": append([]byte("hello\n"), whole...),
		"a changed last line":  bytes.Replace(whole, []byte(`"i":2`), []byte(`"i":9`), 1),
	} {
		bad := filepath.Join(dir, strings.ReplaceAll(what, " ", "-"))
		must(t, os.WriteFile(bad, content, 0o600))
		_, _, err := journal.Open(bad, journal.Config{})
		if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v, want ErrDamaged with file and line", what, err)
		}
		if after, _ := os.ReadFile(bad); !bytes.Equal(after, content) {
			t.Errorf("%s: the damaged file was changed", what)
		}
	}
}

func TestRefusals(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j, _ := mustOpen(t, name)
	if _, _, err := journal.Open(name, journal.Config{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second Open = %v, want ErrLocked", err)
	}
	if err := j.Append(t.Context(), "bad", func() {}); err == nil {
		t.Error("a function was journaled")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Either answer is right when both are possible at once; it must return.
	if err := j.Append(ctx, "late", nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a cancelled context = %v", err)
	}
	must(t, j.Close())
	if err := j.Append(t.Context(), "late", nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Append after Close = %v, want ErrClosed", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("00000000 1 x {}\n"))
	f.Add([]byte("torn"))
	name := filepath.Join(f.TempDir(), "journal")
	fill(f, name, 2)
	whole, err := os.ReadFile(name)
	must(f, err)
	f.Add(whole)
	f.Fuzz(func(t *testing.T, content []byte) {
		name := filepath.Join(t.TempDir(), "journal")
		must(t, os.WriteFile(name, content, 0o600))
		j, found, err := journal.Open(name, journal.Config{NoSync: true})
		if err != nil {
			if !errors.Is(err, journal.ErrDamaged) {
				t.Fatalf("%v, want ErrDamaged", err)
			}
			return
		}
		j.Close()
		j, again, err := journal.Open(name, journal.Config{NoSync: true})
		if err != nil || len(again.Events) != len(found.Events) || again.Repaired != "" {
			t.Fatalf("opened again: %d events, %q, %v; the first time %d", len(again.Events), again.Repaired, err, len(found.Events))
		}
		j.Close()
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, noSync := range []bool{false, true} {
		b.Run(fmt.Sprintf("nosync=%v", noSync), func(b *testing.B) {
			j, _, err := journal.Open(filepath.Join(b.TempDir(), "journal"), journal.Config{NoSync: noSync})
			must(b, err)
			defer j.Close()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := j.Append(b.Context(), "match", map[string]int{"points": 3}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

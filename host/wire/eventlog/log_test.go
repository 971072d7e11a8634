package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func open(t testing.TB, cfg Config) *Log {
	t.Helper()
	if cfg.Data == "" {
		cfg.Data = t.TempDir()
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(n int) Record {
	return Record{
		Request: fmt.Appendf(nil, "%d", n), Conversation: "conv-1", Transport: "http", Route: "/mcp", Method: "parity_choose",
		Status: 200, Duration: 1234567 * time.Nanosecond,
	}
}

// lines returns the records of all files of a log, in the order of their names.
func lines(t testing.TB, l *Log) (all []map[string]any, names []string) {
	t.Helper()
	entries, err := os.ReadDir(l.files.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == latest {
			continue
		}
		names = append(names, e.Name())
		raw, err := os.ReadFile(filepath.Join(l.files.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%s: %q: %v", e.Name(), line, err)
			}
			all = append(all, v)
		}
	}
	return all, names
}

func TestRecord(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Now: func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 5_600_000, time.FixedZone("", 7200)) }})
	l.Append(record(7))
	l.Append(Record{Transport: "stdio", Route: "stdio", Status: 400, Error: []byte(`{"code":-32700,"message":"Parse error"}`)})
	l.Append(Record{Request: []byte(`"` + strings.Repeat("é", 200) + `"`), Method: strings.Repeat("x", 500) + "\xff", Conversation: "a\"b\nc"})
	l.Append(Record{Request: []byte(`{"a":1}`)})
	l.Append(Record{Request: []byte(strings.Repeat("1", 200))})
	l.Close()
	raw, err := os.ReadFile(l.Name())
	if err != nil {
		t.Fatal(err)
	}
	uuid := regexp.MustCompile(`"event":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)
	want := []string{
		`{"timestamp":"2026-01-01T10:00:00.005Z","ids":{E,"request":7,"conversation":"conv-1"},"transport":"http","route":"/mcp","method":"parity_choose","status":"ok","http_status":200,"duration_ms":1.234,"error":null,"metadata":{"schemaVersion":"1","deterministic":false}}`,
		`{"timestamp":"2026-01-01T10:00:00.005Z","ids":{E,"request":null,"conversation":null},"transport":"stdio","route":"stdio","method":"","status":"error","http_status":400,"duration_ms":0.000,"error":{"code":-32700,"message":"Parse error"},"metadata":{"schemaVersion":"1","deterministic":false}}`,
		`{"timestamp":"2026-01-01T10:00:00.005Z","ids":{E,"request":"` + strings.Repeat("é", 64) + `","conversation":"a\"b\nc"},"transport":"","route":"","method":"` + strings.Repeat("x", 128) + `","status":"ok","http_status":0,"duration_ms":0.000,"error":null,"metadata":{"schemaVersion":"1","deterministic":false}}`,
		`{"timestamp":"2026-01-01T10:00:00.005Z","ids":{E,"request":null,"conversation":null},"transport":"","route":"","method":"","status":"ok","http_status":0,"duration_ms":0.000,"error":null,"metadata":{"schemaVersion":"1","deterministic":false}}`,
	}
	want = append(want, want[3], "")
	if got := uuid.ReplaceAllString(string(raw), "E"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestRotation: files are full but not too full, the oldest go, .latest names
// the newest, and nothing is torn.
func TestRotation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	older := open(t, Config{Data: data, Now: func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }})
	older.Append(record(0))
	older.Close()
	foreign := filepath.Join(older.files.dir, "notes.jsonl")
	if err := os.WriteFile(foreign, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Config{Data: data, MaxFile: 2000, MaxFiles: 3})
	for i := range 100 {
		l.Append(record(i))
	}
	l.Close()
	all, names := lines(t, l)
	if len(names) != 4 || names[3] != "notes.jsonl" { // three and the one that is not ours
		t.Fatalf("files: %q", names)
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(l.files.dir, name)); err != nil || info.Size() > 2000 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	records := all[:len(all)-1]
	for i, r := range records { // the last ones, without a gap
		if n := r["ids"].(map[string]any)["request"]; n != float64(100-len(records)+i) {
			t.Fatalf("record %d is of request %v", i, n)
		}
	}
	checkLatest(t, l, names[2])
	if l.Dropped() != 0 {
		t.Errorf("%d records were dropped", l.Dropped())
	}
}

func checkLatest(t *testing.T, l *Log, want string) {
	t.Helper()
	name, err := os.Readlink(filepath.Join(l.files.dir, latest))
	if err != nil || name != want {
		t.Errorf(".latest is %q, %v; want %q", name, err, want)
	}
}

// TestLatestWithoutLinks: where there are no symbolic links it is a text file.
func TestLatestWithoutLinks(t *testing.T) {
	t.Parallel()
	f := &files{dir: t.TempDir(), stem: deterministicStem, maxFile: 1, maxFiles: 2, symlink: func(string, string) error { return errors.ErrUnsupported }}
	for _, want := range []string{"deterministic.jsonl\n", "deterministic-00000002.jsonl\n"} {
		if err := f.next(); err != nil || f.trouble != nil {
			t.Fatal(err, f.trouble)
		}
		if got, err := os.ReadFile(filepath.Join(f.dir, latest)); err != nil || string(got) != want {
			t.Errorf(".latest holds %q, %v; want %q", got, err, want)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
}

// TestDeterministic: the same records give the same bytes, whatever was there
// before, and other seeds other ids.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	play := func(seed string) string {
		l := open(t, Config{Data: data, Seed: seed, MaxFile: 1000})
		for i := range 5 {
			r := record(i)
			r.Duration = time.Duration(time.Now().UnixNano())
			l.Append(r)
		}
		l.Close()
		var all strings.Builder
		_, names := lines(t, l)
		for _, name := range names {
			raw, err := os.ReadFile(filepath.Join(l.files.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(name + "\n" + string(raw))
		}
		return all.String()
	}
	first := play("one")
	if !strings.HasPrefix(first, "deterministic-00000002.jsonl\n") || !strings.Contains(first, `"timestamp":"2025-01-01T00:00:00.000Z","ids":{"event":"`) {
		t.Errorf("the log is %s", first)
	}
	if other := play("two"); other == first {
		t.Error("another seed gives the same log")
	}
	l := open(t, Config{Data: data, Seed: "one", MaxFile: 400, MaxFiles: 2})
	for i := range 4 {
		l.Append(record(i))
	}
	l.Close()
	if _, names := lines(t, l); len(names) != 2 || names[0] != "deterministic-00000003.jsonl" {
		t.Errorf("the last two files are %q", names)
	}
	if again := play("one"); again != first {
		t.Errorf("the same again is\n%s\nand was\n%s", again, first)
	}
}

// TestManyWriters: records of many goroutines stand whole, each once.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	l := open(t, Config{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				l.Append(record(g*1000 + i))
			}
		})
	}
	wg.Wait()
	l.Close()
	l.Append(record(1)) // too late
	all, _ := lines(t, l)
	seen := make(map[any]bool)
	for _, r := range all {
		seen[r["ids"].(map[string]any)["request"]] = true
	}
	if len(all) != 1600 || len(seen) != 1600 || l.Dropped() != 1 {
		t.Errorf("%d records, %d different ones, %d dropped", len(all), len(seen), l.Dropped())
	}
}

// TestFlush: a record is on disk after the time that it may wait.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, Config{Flush: time.Minute})
		l.Append(record(1))
		synctest.Wait()
		if all, _ := lines(t, l); len(all) != 0 {
			t.Error("the record was written at once")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if all, _ := lines(t, l); len(all) != 1 {
			t.Error("the record was not written in time")
		}
		l.Close()
	})
}

// BenchmarkRecord measures what a record costs a request.
func BenchmarkRecord(b *testing.B) {
	l := open(b, Config{})
	defer l.Close()
	r := record(1)
	r.Request = []byte(`"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1"`)
	buf := make([]byte, 0, 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		buf = l.appendRecord(buf[:0], &r)
	}
}

// stuck is a log whose writer does nothing, as if the disk had stopped.
func stuck(t *testing.T, told *strings.Builder) *Log {
	t.Helper()
	l := open(t, Config{Log: slog.New(slog.NewTextHandler(told, nil))})
	close(l.stop)
	l.writer.Wait()
	l.stop = make(chan struct{})
	return l
}

// TestOverload: a disk that does not keep up costs records and no time.
func TestOverload(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	l := stuck(t, &told)
	const n = 20_000
	for i := range n {
		l.Append(record(i))
	}
	if len(l.pending) > maxPending+1000 || l.Dropped() == 0 {
		t.Errorf("%d bytes wait, %d records were dropped", len(l.pending), l.Dropped())
	}
	l.writer.Go(l.write)
	l.Close()
	all, _ := lines(t, l)
	if int64(len(all))+l.Dropped() != n {
		t.Errorf("%d records and %d dropped of %d", len(all), l.Dropped(), n)
	}
	if !strings.Contains(told.String(), fmt.Sprintf("dropped=%d", l.Dropped())) {
		t.Errorf("the log says %q", told.String())
	}
}

// TestFullDisk: what cannot be written is counted, that is said once, and the
// log goes on when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here to play the full disk")
	}
	var told strings.Builder
	l := stuck(t, &told)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	good := l.files.file
	l.files.file = full
	for i := range 3 {
		l.Append(record(i))
		if lost := l.put(l.pending); lost != 1 {
			t.Errorf("%d records were lost", lost)
		}
		l.pending = l.pending[:0]
		if l.files.file == nil { // a device cannot be truncated: the next goes to another file
			l.files.file, _ = os.OpenFile("/dev/full", os.O_WRONLY, 0)
		}
	}
	if n := strings.Count(told.String(), "cannot be written"); n != 1 {
		t.Errorf("it was told %d times: %s", n, told.String())
	}
	_ = l.files.file.Close()
	l.files.file = good
	l.Append(record(9))
	l.writer.Go(l.write)
	l.Close()
	if all, _ := lines(t, l); len(all) != 1 {
		t.Errorf("%d records after the disk had room again", len(all))
	}
}

// TestTornWrite: what a failed write left of a line is taken back.
func TestTornWrite(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Seed: "s"})
	l.Append(record(1))
	if _, err := l.files.file.WriteString(`{"torn":`); err != nil { // as a full disk leaves it
		t.Fatal(err)
	}
	if err := l.files.takeBack(); err != nil {
		t.Fatal(err)
	}
	l.Append(record(2))
	l.Close()
	if all, _ := lines(t, l); len(all) != 2 {
		t.Errorf("%d records", len(all))
	}
}

// TestFolderGone: without its folder the log goes on, and says so.
func TestFolderGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed")
	}
	var told strings.Builder
	l := open(t, Config{Seed: "s", MaxFile: 400, Log: slog.New(slog.NewTextHandler(&told, nil))})
	if err := os.RemoveAll(l.cfg.Data); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		l.Append(record(i))
	}
	l.Close()
	if l.Dropped() != 3 || strings.Count(told.String(), "cannot be written") != 1 {
		t.Errorf("%d dropped: %s", l.Dropped(), told.String())
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{{Data: file}, {Data: t.TempDir(), MaxFile: -1}, {Data: t.TempDir(), MaxFiles: -1}, {Data: t.TempDir(), Flush: -1}} {
		if l, err := Open(cfg); err == nil || !strings.Contains(err.Error(), "validation log") {
			t.Errorf("%+v: %v, %v", cfg, l, err)
		}
	}
}

// TestLazy: nothing is made before there is something to write, and what cannot
// be made then costs records.
func TestLazy(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Lazy: true, Seed: "s"})
	if _, err := os.Stat(l.files.dir); !os.IsNotExist(err) {
		t.Errorf("there is a folder: %v", err)
	}
	l.Append(record(1))
	l.Close()
	if all, _ := lines(t, l); len(all) != 1 {
		t.Errorf("%d records", len(all))
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, Config{Data: file, Lazy: true, Seed: "s"})
	l.Append(record(1))
	l.Close()
	if l.Dropped() != 1 {
		t.Errorf("%d records were dropped", l.Dropped())
	}
}

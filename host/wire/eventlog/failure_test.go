package eventlog

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

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

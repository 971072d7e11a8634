package assistants

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/attest"
)

// Of finished reports the newest stay, and what a killed server has left goes in
// time. What is not the store's is not touched.
func TestStorePrunes(t *testing.T) {
	t.Parallel()
	s := &store{folder: filepath.Join(t.TempDir(), "data"), name: "data", keep: 2}
	if ids, _, err := s.folders(); err != nil || len(ids) != 0 {
		t.Fatalf("before anything was kept: %q, %v", ids, err)
	}
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	begin := func(age time.Duration, finished bool) string {
		id := newID(now.Add(-age))
		attest.Must(s.begin(id, map[string]string{"mine.lua": "source"}))
		if finished {
			attest.OK(t, s.write(id, reportText, []byte("report of "+id)))
		}
		return id
	}
	oldest, older, newer, newest := begin(72*time.Hour, true), begin(3*time.Hour, true), begin(2*time.Hour, true), begin(time.Hour, true)
	killed, underWay := begin(50*time.Hour, false), begin(4*time.Hour, false)
	foreign := filepath.Join(s.folder, reportsFolder, "1999-mine")
	attest.OK(t, os.MkdirAll(foreign, 0o755))
	attest.OK(t, os.WriteFile(filepath.Join(foreign, reportText), nil, 0o644))
	attest.OK(t, s.prune(now))
	if ids, _, err := s.folders(); err != nil || !slices.Equal(ids, []string{newest, newer, "1999-mine"}) {
		t.Errorf("finished: %q, %v; want %q and what is foreign", ids, err, []string{newest, newer})
	}
	for id, want := range map[string]bool{oldest: false, older: false, killed: false, underWay: true, newest: true} {
		if _, err := os.Stat(filepath.Join(s.folder, reportsFolder, id, sourcesFolder, "mine.lua")); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", id, err, want)
		}
	}
	if text, err := s.read(newest, reportText); err != nil || string(text) != "report of "+newest {
		t.Errorf("%q, %v", text, err)
	}
}

// No id leads out of the folder of reports, and no link does.
func TestStoreStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &store{folder: filepath.Join(dir, "data"), name: "data", keep: 2}
	attest.Must(s.begin(newID(time.Unix(0, 0)), nil))
	attest.OK(t, os.WriteFile(filepath.Join(dir, reportText), []byte("secret"), 0o644))
	reports := filepath.Join(s.folder, reportsFolder)
	if err := os.Symlink(dir, filepath.Join(reports, "linked")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for _, id := range []string{"", ".", "..", "../..", "linked", "a/b", `a\b`, "/", "x\x00", "%2e%2e"} {
		if text, err := s.read(id, reportText); err == nil {
			t.Errorf("read %q: %q, want an error", id, text)
		}
	}
	elsewhere := &store{folder: filepath.Join(dir, "other"), name: "other", keep: 2}
	attest.OK(t, os.Mkdir(elsewhere.folder, 0o755))
	attest.OK(t, os.Symlink(dir, filepath.Join(elsewhere.folder, reportsFolder)))
	if dir, err := elsewhere.begin("one", nil); err == nil {
		t.Errorf("began a report in %s, behind a link", dir)
	}
}

// Whatever address is asked for, only a report is handed out.
func FuzzReadReport(f *testing.F) {
	dir := f.TempDir()
	s := &store{folder: filepath.Join(dir, "data"), name: "data", keep: 2}
	id := newID(time.Unix(0, 0))
	if _, err := s.begin(id, nil); err != nil {
		f.Fatal(err)
	}
	if err := s.write(id, reportText, []byte("a report")); err != nil {
		f.Fatal(err)
	}
	for _, other := range []string{filepath.Join(dir, reportText), filepath.Join(dir, "data", reportText), filepath.Join(dir, "data", reportsFolder, reportText)} {
		if err := os.WriteFile(other, []byte("secret"), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	for _, seed := range []string{id, "", ".", "..", "../..", id + "/..", id + "/../..", "./" + id, "%2e%2e", id + "\x00", "/", "/etc"} {
		f.Add(seed)
	}
	l := &labTools{store: s}
	f.Fuzz(func(t *testing.T, asked string) {
		content, err := l.readReport(reportURI(asked), "", reportText)
		if err == nil && (string(content) != "a report" || asked != id) {
			t.Errorf("%q: %q", asked, content)
		}
	})
}

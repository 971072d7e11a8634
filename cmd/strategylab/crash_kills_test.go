package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// strayFile is the name of a file that is only there while another is written.
var strayFile = regexp.MustCompile(`^\.strategylab-draft-`)

// someKills is how often each kind of process is killed.
func someKills() int {
	switch {
	case longTests:
		return 30
	case wholeSets:
		return 2
	}
	return 1
}

// traces are what processes leave behind: other processes of a program that they alone
// run, and files in their folder for temporary ones.
type traces struct {
	t             *testing.T
	program, temp string
}

func newTraces(t *testing.T) traces {
	t.Helper()
	temp, err := os.MkdirTemp("", "kills") // a short path, since sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	return traces{t, program(t, t.TempDir()), temp}
}

// keep has a command run the program and keep its temporary files in the folder.
func (tr traces) keep(cmd *exec.Cmd) *exec.Cmd {
	cmd.Path, cmd.Env = tr.program, append(os.Environ(), "TMPDIR="+tr.temp)
	return cmd
}

// gone checks that no process is left, and no temporary file: neither in folders of data
// nor, once the next command has removed the sockets of killed ones, elsewhere.
func (tr traces) gone(folders ...string) {
	tr.t.Helper()
	vanishes(tr.t, tr.program)
	before := time.Now().Add(-time.Hour) // a new folder may be of a process that has just begun
	files, _ := filepath.Glob(filepath.Join(tr.temp, "*"))
	for _, file := range files {
		if err := os.Chtimes(file, before, before); err != nil {
			tr.t.Error(err)
		}
	}
	dir := tr.t.TempDir()
	write(tr.t, dir, "even.lua", "function choose() return 'even' end")
	next := begin(tr.t, tr.keep(commandLine(tr.t.Context(), dir, "experiment", "--runs", "1", "--field", "even.lua,random", "--out", "out", "--no-report", "--quiet")))
	if code := next.code(); code != exitOK {
		tr.t.Errorf("exit code %d: %s", code, next.err.String())
	}
	for _, folder := range append(folders, tr.temp) {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && name != folder && (folder == tr.temp || strayFile.MatchString(d.Name())) {
				tr.t.Errorf("left behind: %s", name)
			}
			return err
		})
		if err != nil {
			tr.t.Error(err)
		}
	}
}

// TestCrashOfARunningExperiment kills an experiment, with workers, at random moments and
// resumes it: its digest is that of a run that nobody disturbs.
func TestCrashOfARunningExperiment(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir, args := clusterFolder(t, "300")
	want, tr := alone(t, dir, args), newTraces(t)
	rnd := rand.New(rand.NewPCG(2, 1))
	kills, runs := 0, 0
	for ; kills < someKills() || runs == 0; runs++ {
		out := fmt.Sprintf("run%d", runs)
		for done := false; !done; {
			line := append(slices.Clone(args), "--out", out)
			if _, err := os.Stat(filepath.Join(dir, out, "plan.json")); err == nil {
				line = resuming(out)
			}
			e := begin(t, tr.keep(commandLine(t.Context(), dir, line...)))
			// Every other one is killed as it starts or loads, the rest as they play.
			if kills < someKills() && (kills%2 == 0 || grows(t, e, filepath.Join(dir, out))) {
				<-time.After(time.Duration(rnd.Int64N(int64(200 * time.Millisecond))))
				e.kill()
			}
			if code := e.code(); code < 0 {
				kills++
				vanishes(t, tr.program)
				continue
			} else if code != exitOK {
				t.Fatalf("exit code %d: %s", code, e.err.String())
			}
			done = true
			if digest, leagues := digestOf(t, []byte(e.out.String())); digest != want || leagues != 300 {
				t.Errorf("after %d kills %d leagues with digest %s, want 300 with %s", kills, leagues, digest, want)
			}
			if diff := cmp.Diff(namesIn(t, filepath.Join(dir, "alone")), namesIn(t, filepath.Join(dir, out))); diff != "" {
				t.Errorf("after %d kills other files (-want +got):\n%s", kills, diff)
			}
		}
	}
	tr.gone(dir)
	t.Logf("crash: experiment: %d kills, %d runs with the digest of an undisturbed one", kills, runs)
}

// namesIn returns the names of all files below a folder.
func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

// saving is a script of a studio that is killed while somebody saves it.
type saving struct {
	t       *testing.T
	team    string // its token
	version string
	saves   int // that the studio has acknowledged
}

func (v *saving) source(n int) string {
	return fmt.Sprintf("function choose() return 'even' end -- %d", n)
}

// open opens the script, which is the one that was acknowledged last, or the next, if the
// studio was killed between saving it and its answer.
func (v *saving) open(s *studioProcess) {
	v.t.Helper()
	s.as(v.team)
	_, a := s.call("open", map[string]any{"file": "mine.lua"})
	switch v.version = a.Text.Version; a.Text.Source {
	case v.source(v.saves):
	case v.source(v.saves + 1):
		v.saves++
	default:
		v.t.Fatalf("the script is %q, want that of save %d", a.Text.Source, v.saves)
	}
}

// save saves versions of the script until the studio is gone.
func (v *saving) save(s *studioProcess) {
	for {
		status, a, err := s.request("save", map[string]any{"file": "mine.lua", "source": v.source(v.saves + 1), "version": v.version})
		if err != nil {
			return
		}
		if status != http.StatusOK {
			v.t.Errorf("save %d: %d %+v", v.saves+1, status, a)
			return
		}
		v.saves++
		v.version = a.Text.Version
	}
}

// TestCrashOfAStudio kills a studio at random moments, while scripts are tried and saved.
// What it has acknowledged is there when it is started again, with the same tokens.
func TestCrashOfAStudio(t *testing.T) {
	t.Parallel()
	class, tr := filepath.Join(t.TempDir(), "class"), newTraces(t)
	line := []string{class, "--team", "Red"}
	first := openStudio(t, t.TempDir(), line...)
	v := &saving{t: t, team: first.tokens["Red"]}
	write(t, class, "Red/mine.lua", v.source(0))
	first.end()
	rnd := rand.New(rand.NewPCG(3, 1))
	kills := 0
	for kills < someKills() {
		p := begin(t, tr.keep(commandLine(t.Context(), t.TempDir(), append([]string{"studio"}, line...)...)))
		serves := kills%3 > 0 // else it may be killed as it starts
		var s *studioProcess
		if serves {
			s = opened(p)
			v.open(s)
		}
		var all sync.WaitGroup
		all.Go(func() {
			<-time.After(time.Duration(rnd.Int64N(int64(200 * time.Millisecond))))
			p.kill()
		})
		if serves {
			all.Go(func() {
				_, _, _ = s.request("try", map[string]any{"file": "slow.lua", "source": slowLua, "leagues": 300})
			})
			v.save(s)
		}
		all.Wait()
		if code := p.code(); code >= 0 {
			t.Fatalf("the studio ended with %d", code)
		}
		kills++
		vanishes(tr.t, tr.program)
	}
	last := openStudio(t, t.TempDir(), line...)
	v.open(last)
	last.end()
	tr.gone(class)
	t.Logf("crash: studio: %d kills, %d saves, none lost", kills, v.saves)
}

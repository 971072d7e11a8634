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
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/manager/managertest"
)

// processes is a league whose agents are processes of their own, each with a
// data directory.
type processes struct {
	t       *testing.T
	dir     string
	traces  traces
	line    map[string][]string // the command lines, by agent
	running map[string]*process
}

const crashLegs = 5

// patient agents retry for two minutes: one that is killed five times on a busy machine is back
// by then.
var patient = []string{"--retries", "14", "--retry-delay", "20ms"}

// separately starts a manager, a referee and three players.
func separately(t *testing.T, flags []string) *processes {
	t.Helper()
	p := &processes{t: t, dir: t.TempDir(), traces: newTraces(t), line: make(map[string][]string), running: make(map[string]*process)}
	p.line["manager"] = []string{"manager", "--players", "3", "--legs", fmt.Sprint(crashLegs), "--data-dir", "manager", "--listen", jsonrpctest.Address(t)}
	p.start("manager") // the next one is to be found where this one is
	url := p.running["manager"].event("listening")["manager"].(string)
	p.line["REF01"] = []string{"referee", "--id", "REF01"}
	for name, strategy := range map[string]string{"Ada": "alternate", "Bob": "role", "Cleo": "always-even"} { // which a late or missing message does not change
		p.line[name] = []string{"player", "--strategy", strategy, "--once"}
	}
	for _, name := range []string{"REF01", "Ada", "Bob", "Cleo"} {
		// A port of the convention could be another player's after a kill.
		p.line[name] = slices.Concat(p.line[name], []string{"--name", name, "--manager", url, "--data-dir", name, "--listen", "127.0.0.1:0"}, flags)
		p.start(name)
		p.running[name].event("registered")
	}
	return p
}

// start runs an agent by its line, which is the same every time.
func (p *processes) start(name string) {
	p.running[name] = begin(p.t, p.traces.keep(commandLine(p.t.Context(), p.dir, append(p.line[name], "--format", "json")...)))
}

// complete waits for the end of the league, holds the table to the journal and
// returns the lines of the table by name.
func (p *processes) complete() map[string]league.Standing {
	p.t.Helper()
	p.running["manager"].ends(exitOK)
	table := make(map[string]league.Standing)
	for _, s := range managertest.Table(p.t, filepath.Join(p.dir, "manager"), manager.DefaultLeagueID) {
		if table[s.DisplayName] = s; s.Played != 2*crashLegs || s.TechnicalLosses > 0 {
			p.t.Errorf("%+v: want %d matches, and nobody at fault", s, 2*crashLegs)
		}
	}
	return table
}

// verified checks that the manager has heard from the players of every draw, also of
// those before it was killed.
func (p *processes) verified() {
	p.t.Helper()
	if e := p.running["manager"].told("draws"); e["verified"] != 3.0*crashLegs || e["drawn"] != 3.0*crashLegs {
		p.t.Errorf("the manager says %v of the draws, want %d of as many", e, 3*crashLegs)
	}
}

// TestCrashOfAgents kills an agent of leagues at random moments, again and again, and
// starts it with the same line, at another port: every match is played and counts once,
// and nobody loses one by technical loss. The players verify the draws of every other
// league; the others have seeds, and the table of a league without kills.
func TestCrashOfAgents(t *testing.T) {
	t.Parallel()
	seeded := append([]string{"--seed", "5"}, patient...)
	want := separately(t, seeded).complete()
	for i, tt := range []struct{ kind, who string }{{"manager", "manager"}, {"referee", "REF01"}, {"player", "Ada"}} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			if tt.kind != "manager" {
				whole(t, "packages kill the others")
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			kills, leagues := 0, 0
			for ; kills < someKills(); leagues++ {
				flags, tables := patient, leagues%2 == i%2
				if tables {
					flags = seeded
				}
				p := separately(t, flags)
				for range 5 {
					if kills == someKills() || !p.killed(tt.who, rnd) {
						break
					}
					kills++
					p.start(tt.who)
				}
				if diff := cmp.Diff(want, p.complete()); tables && diff != "" {
					t.Errorf("another table after %d kills (-want +got):\n%s", kills, diff)
				} else if !tables {
					p.verified()
				}
				p.end(tt.who)
			}
			t.Logf("crash: %s: %d kills in %d leagues, in each of which %d matches were played once", tt.kind, kills, leagues, 3*crashLegs)
		})
	}
}

// end waits until all have ended, of whom one may have been killed, and looks for what they leave.
func (p *processes) end(killed string) {
	p.t.Helper()
	for name, r := range p.running {
		if name == killed {
			_ = r.Process.Signal(os.Interrupt) // a player that was killed before it heard of the end waits for its manager
		}
		if code := r.end(); code != exitOK && name != killed {
			p.t.Errorf("%s ended with %d", name, code)
		}
		if e := r.told("alarm"); e != nil {
			p.t.Errorf("%s raises an alarm: %v", name, e)
		}
	}
	p.traces.gone(p.dir)
}

// killed kills an agent at a random moment; false if it has ended before.
func (p *processes) killed(name string, rnd *rand.Rand) bool {
	p.t.Helper()
	r := p.running[name]
	for range rnd.IntN(4) {
		if _, ok := r.next(); !ok {
			break
		}
	}
	<-time.After(time.Duration(rnd.Int64N(int64(30 * time.Millisecond))))
	_ = r.Process.Kill()
	return r.end() < 0
}

// TestCrashByAFullDisk starts agents that soon cannot write their journal. They end, with
// an error that says which file and why. What they have acknowledged is on disk: started
// again with room, they go on, and the league ends as if nothing had been.
func TestCrashByAFullDisk(t *testing.T) {
	t.Parallel()
	whole(t, "TestCrashOfALeague has the disk be full for all agents")
	step, most := sampled(3000, 300), 4000
	cases := 0
	for _, who := range []string{"manager", "REF01", "Ada"} {
		for size := step; size <= most; size += step {
			cases++
			t.Run(fmt.Sprintf("%s, %d bytes", who, size), func(t *testing.T) {
				t.Parallel()
				fullDisk(t, who, size)
			})
		}
	}
	t.Logf("crash: manager, referee, player: the disk full at %d moments", cases)
}

// fullDisk kills an agent and starts it again where it can write files of a size only.
func fullDisk(t *testing.T, who string, size int) {
	needsFullDisks(t)
	p := separately(t, patient)
	p.running[who].kill()
	full := commandLine(t.Context(), p.dir, append(p.line[who], "--format", "json")...)
	full.Env = append(os.Environ(), fmt.Sprintf("%s=%d", fileSizeEnv, size))
	p.running[who] = begin(t, full)
	p.running[who].ends(exitFailure)
	for _, want := range []string{"journal", "file too large", "start again"} {
		p.running[who].err.until(want)
	}
	p.start(who)
	p.complete()
	p.end("")
}

// fileSizeEnv names the size, in bytes, beyond which the program of a test can write no
// file, as on a disk that is full.
const fileSizeEnv = "STRATEGYLAB_TEST_FILE_SIZE"

// needsFullDisks skips a test where limitFiles cannot work.
func needsFullDisks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the size of files cannot be limited here")
	}
}

// crashing is a command that is started again in the folder that it has left behind.
type crashing struct {
	args  []string // that write into the folder "data"
	from  string   // the beginning of its result
	lines int      // of its result
	want  string   // its result after a run that nothing disturbs

	cases, again, refused int
}

// start runs the command in this process.
func (c *crashing) start(t *testing.T, dir string, args ...string) (code int, result, stderr string) {
	t.Helper()
	code, stdout, stderr := inside(t.Context(), in(dir), args...)
	return code, c.result(stdout), stderr
}

// result returns what the command has found out, if it has.
func (c *crashing) result(out string) string {
	i := strings.Index(out, c.from)
	if i < 0 {
		return ""
	}
	lines := strings.SplitAfter(out[i:], "\n")
	return strings.Join(lines[:min(c.lines, len(lines))], "")
}

// whole runs the command undisturbed and returns its folder.
func (c *crashing) whole(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	code, result, stderr := c.start(t, dir, c.args...)
	if code != exitOK || result == "" {
		t.Fatalf("exit code %d, %q: %s", code, result, stderr)
	}
	c.want = result
	return filepath.Join(dir, "data")
}

// fullDisk lets the disk be full at a size of files and then starts the command again,
// with the arguments that again returns for the folder.
func (c *crashing) fullDisk(t *testing.T, size int, again func(dir string) []string) {
	t.Helper()
	needsFullDisks(t)
	c.cases++
	dir := t.TempDir()
	cmd := commandLine(t.Context(), dir, c.args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", fileSizeEnv, size))
	p := begin(t, cmd)
	if p.code() == exitOK {
		if result := c.result(p.out.String()); result != c.want {
			t.Errorf("files of %d bytes: %q, want %q", size, result, c.want)
		}
		return
	}
	if text := p.err.String(); p.code() != exitFailure || !strings.Contains(text, "file too large") || !strings.Contains(text, "data") || strings.Contains(text, "goroutine ") {
		t.Errorf("files of %d bytes: %v, want an error that names the file: %s", size, p.ProcessState, text)
	}
	code, result, text := c.start(t, dir, again(dir)...)
	if c.again++; code != exitOK || result != c.want {
		t.Errorf("files of %d bytes, then started again: exit code %d, %q, want %q: %s", size, code, result, c.want, text)
	}
}

// damages are what can have become of a file.
var damages = []struct {
	name string
	do   func(content []byte) []byte // nil takes the file away
}{
	{"missing", nil},
	{"empty", func([]byte) []byte { return nil }},
	{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }},
	{"with a flipped bit", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
}

// damaged damages every file of a folder in turn and starts the command again: it ends
// as if nothing had been, or with an error.
func (c *crashing) damaged(t *testing.T, whole string, args []string, step int) {
	t.Helper()
	for i, file := range namesIn(t, whole) {
		for j, damage := range damages {
			if (i+j)%step != 0 {
				continue
			}
			c.cases++
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, "data", file)
			content, err := os.ReadFile(name)
			if err == nil && damage.do == nil {
				err = os.Remove(name)
			} else if err == nil && len(content) > 0 {
				err = os.WriteFile(name, damage.do(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			code, result, stderr := c.start(t, dir, args...)
			switch {
			case code == exitOK && result == c.want:
				c.again++
			case code != exitOK && result == "" && strings.Contains(stderr, "strategylab: "):
				c.refused++
			default:
				t.Errorf("%s %s: exit code %d, %q, want %q: %s", file, damage.name, code, result, c.want, stderr)
			}
		}
	}
}

// sizes returns sizes of files at which a disk can be full, a step apart, up to that of the
// largest of some files.
func sizes(t *testing.T, step int, files ...string) (all []int) {
	t.Helper()
	largest := 0
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, int(info.Size()))
	}
	for size := 0; size <= largest; size += step {
		all = append(all, size)
	}
	return append(all, largest)
}

// TestCrashOfALeague has the disk be full at each size of a journal, which ends a manager,
// a referee or the players within a record, and damages every file of their folder in
// every way. Started again, the league ends with the same table; what cannot be trusted
// is refused. All but make crash-tests take a sample.
func TestCrashOfALeague(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	crashLeague(t, 1400, 9, "league")
}

// TestCrashOfAHost is TestCrashOfALeague for a host, with its token and its page.
func TestCrashOfAHost(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	crashLeague(t, 2100, 13, "host", "--players", "3", "--listen", "127.0.0.1:0")
}

// crashLeague crashes a command that plays a league of three house players: the disk is
// full at sizes that are a step apart, and one in so many damages is done.
func crashLeague(t *testing.T, step, of int, command string, flags ...string) {
	t.Helper()
	c := &crashing{from: "  place", lines: 4, args: slices.Concat([]string{
		command, "--field", "random,markov-2,always-even", "--data-dir", "data", "--legs", "1", "--seed", "3",
		"--validation-log", "off", "--isolate=false", "--retries", "9", "--retry-delay", "20ms",
	}, flags)}
	whole := c.whole(t)
	step, of = sampled(step, 37), sampled(of, 1)
	for _, size := range sizes(t, step, filepath.Join(whole, "data/referees/REF01/journal")) {
		c.fullDisk(t, size, func(string) []string { return c.args })
	}
	c.damaged(t, whole, c.args, of)
	c.report(t, command)
}

// TestCrashOfAnExperiment is TestCrashOfALeague for the folder of a run.
func TestCrashOfAnExperiment(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	c := &crashing{from: "digest", lines: 1, args: []string{
		"experiment", "--runs", "6", "--legs", "1", "--seed", "3", "--field", "random,markov-2,always-even", "--out", "data", "--details", "--no-report", "--workers", "1",
	}}
	whole := c.whole(t)
	step, of := sampled(900, 11), sampled(7, 1)
	resume := []string{"experiment", "--resume", "data", "--details", "--no-report"}
	names, err := filepath.Glob(filepath.Join(whole, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes(t, step, slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") })...) {
		c.fullDisk(t, size, func(dir string) []string {
			if _, err := os.Stat(filepath.Join(dir, "data/plan.json")); err != nil {
				return c.args // there is nothing to resume yet
			}
			return resume
		})
	}
	c.damaged(t, whole, resume, of)
	c.report(t, "experiment")
}

// sampled returns how far apart cases are: as in a plain run, a third of that in a whole one,
// and with LONG_TESTS the least that there is.
func sampled(plain, least int) int {
	switch {
	case longTests:
		return least
	case wholeSets:
		return (plain + 2) / 3
	}
	return plain
}

func (c *crashing) report(t *testing.T, command string) {
	t.Helper()
	t.Logf("crash: %s: %d cases, %d had the same result after a restart, %d were refused", command, c.cases, c.again, c.refused)
}

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
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Error(names, err)
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
		serves := kills%3 != 1 // else it may be killed as it starts
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

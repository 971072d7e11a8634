package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// A line is a command line of a script, without the name of the program.
type line struct {
	Dir  string // where it runs
	Args []string
}

// printed is what a line has printed and its exit code.
type printed struct {
	Code           int
	Stdout, Stderr string
}

// serveLines runs command lines, one after the other, and says how each ended: a script
// has dozens of them, and it takes a process longer to start than most of them to run.
// Between two lines nothing stays but the process and its environment.
func serveLines(in io.Reader, out io.Writer) int {
	lines, ends := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var l line
		err := lines.Decode(&l)
		if err == io.EOF {
			return 0
		}
		if err == nil {
			err = os.Chdir(l.Dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		var stdout, stderr output
		p := thisProcess()
		p.Exe = filepath.Join(filepath.Dir(p.Exe), strings.Replace(filepath.Base(p.Exe), "resident", "strategylab", 1))
		p.Args, p.Stdin = append([]string{"strategylab"}, l.Args...), strings.NewReader("")
		p.Stdout, p.Out, p.Stderr, p.Err = &stdout, command.Terminal{}, &stderr, command.Terminal{}
		code := run(context.Background(), p)
		if err := ends.Encode(printed{code, stdout.text(), stderr.text()}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

// output keeps what any goroutine of a command prints.
type output struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.Write(b)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}

// resident is the process for the lines of a script. It starts with the first of them.
type resident struct {
	env   []string
	died  bytes.Buffer // why, if it did
	lines *json.Encoder
	ends  *json.Decoder
	stop  func()
}

type residentKey struct{}

// prepareResident provides for the process of a script, which has the environment that
// the script begins with.
func prepareResident(env *testscript.Env) error {
	if !wholeSets {
		env.Setenv(oneWorker, "1")
	}
	r := &resident{env: env.Vars}
	env.Values[residentKey{}] = r
	env.Defer(func() {
		if r.stop != nil {
			r.stop()
		}
	})
	return nil
}

func (r *resident) start() error {
	path, err := exec.LookPath("resident")
	if err != nil {
		return err
	}
	cmd := exec.Command(path)
	cmd.Env, cmd.Stderr = r.env, &r.died
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.lines, r.ends = json.NewEncoder(in), json.NewDecoder(out)
	r.stop = sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait() // died says it
	})
	return nil
}

// runLine runs a line of a script and returns its exit code.
func runLine(ts *testscript.TestScript, args []string) int {
	r := ts.Value(residentKey{}).(*resident)
	if r.stop == nil {
		ts.Check(r.start())
	}
	ts.Check(r.lines.Encode(line{Dir: ts.MkAbs("."), Args: args}))
	var p printed
	if err := r.ends.Decode(&p); err != nil {
		r.stop()
		ts.Fatalf("%q ends the process: %v\n%s", args, err, r.died.Bytes())
	}
	fmt.Fprint(ts.Stdout(), p.Stdout)
	fmt.Fprint(ts.Stderr(), p.Stderr)
	return p.Code
}

// succeeds runs a command line that must succeed, or fail: [!] lab ARG...
func succeeds(ts *testscript.TestScript, neg bool, args []string) {
	if code := runLine(ts, args); neg != (code != 0) {
		ts.Fatalf("exit code %d", code)
	}
}

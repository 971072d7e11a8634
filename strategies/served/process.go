package served

import (
	"crypto/rand"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
)

// process is a process that this program has started for an agent. A nil process is that
// of an agent at an address, which never ends.
type process struct {
	cmd    *exec.Cmd
	output *tail
	done   chan struct{} // closed when it has ended
	state  string        // how; read it after done
}

// drain is the time to read what is left of the output of an ended process; only a
// descendant that left its group can use it up.
const drain = 2 * time.Second

// launch starts a command. The process has the environment of this one, as if the operator
// had started it: agents find their interpreters, packages and keys by it.
func launch(args []string, dir string, output *tail) (*process, error) {
	p := &process{cmd: exec.Command(args[0], args[1:]...), output: output, done: make(chan struct{})}
	mark := "LAB_AGENT=" + rand.Text()
	p.cmd.Dir = dir
	p.cmd.Env = append(p.cmd.Environ(), mark)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = output, output, drain
	end, err := subprocess.StartGuarded(p.cmd, mark)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		defer close(p.done)
		err := p.cmd.Wait()
		end() // descendants
		if p.state = "exit status 0"; err != nil {
			p.state = err.Error()
		}
	}()
	return p, nil
}

// dead reports whether the process has ended.
func (p *process) dead() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// grace is the time in which a process that has closed its connections is seen to end.
const grace = 2 * time.Second

// dying reports whether the process has ended or ends within the grace.
func (p *process) dying() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return true
	case <-time.After(grace):
		return false
	}
}

// died is the fault of a process that has ended: how, with its last words.
func (p *process) died() error {
	<-p.done
	text := "its process ended: " + p.state
	if last := p.output.lines(); len(last) > 0 {
		text += ": " + last[len(last)-1]
	}
	return &fault{strategies.ErrCrashed, text}
}

// kill ends the process with its descendants, and waits for that.
func (p *process) kill() {
	if p != nil {
		subprocess.Kill(p.cmd)
		<-p.done
	}
}

// freePort returns a port of 127.0.0.1 at which nobody listens.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Limits of what is kept of an agent's output.
const (
	keptLines  = 10
	longestOne = 300 // bytes of a line
)

// tail keeps the last lines that are written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []string
	open []byte // the line that is being written
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := string(p); rest != ""; {
		line, after, ended := strings.Cut(rest, "\n")
		if room := longestOne - len(t.open); room > 0 {
			t.open = append(t.open, line[:min(len(line), room)]...)
		}
		if rest = after; ended {
			t.flush()
		}
	}
	return len(p), nil
}

func (t *tail) flush() {
	if text := strategies.OneLine(string(t.open), longestOne); text != "" {
		t.last = append(t.last, text)
		t.last = t.last[max(0, len(t.last)-keptLines):]
	}
	t.open = t.open[:0]
}

// lines returns the last lines.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flush(); len(t.last) == 0 {
		return nil
	}
	return append([]string(nil), t.last...)
}

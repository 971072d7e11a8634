package plugins

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// child is one operating system process. It is what go-plugin starts and
// stops; unlike its own runner it gives the process no input of ours, a group
// of its own, and the pipe by which it notices our end.
type child struct {
	cmd    *exec.Cmd
	output *output

	stdout  io.ReadCloser
	parent  *os.File // our end of the pipe; it is never written to
	done    chan struct{}
	readers sync.WaitGroup

	mu     sync.Mutex
	system *os.Process // once it is started
	killed bool        // or is to be, as soon as it is
	hello  string      // the first line of its standard output
	state  string      // how it ended
}

var _ runner.Runner = (*child)(nil)

// newChild prepares a process with the environment that go-plugin has made.
func newChild(command []string, dir string, env []string, out *output) *child {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	return &child{cmd: cmd, output: out, done: make(chan struct{})}
}

// Start implements runner.Runner.
func (c *child) Start(context.Context) error {
	var ours, theirs []*os.File
	defer func() { closeAll(theirs) }()
	for range 3 { // parent, stdout, stderr
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			return err
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	ours[0], theirs[0] = theirs[0], ours[0] // the parent's end is the one that is written to
	c.cmd.Stdout, c.cmd.Stderr = theirs[1], theirs[2]
	if detach(c.cmd, theirs[0]) {
		c.cmd.Env = append(c.cmd.Env, parentKey+"="+strconv.Itoa(3))
	}
	if err := c.cmd.Start(); err != nil {
		closeAll(ours)
		return err
	}
	c.parent = ours[0]
	c.mu.Lock()
	c.system = c.cmd.Process
	killed := c.killed
	c.mu.Unlock()
	out, in := io.Pipe()
	c.stdout = out
	c.readers.Go(func() { firstLine(ours[1], c.output, c.greeted, in) })
	c.readers.Go(func() { c.output.read(ours[2]) })
	go func() {
		c.ended(c.cmd.Wait(), ours[1:])
		close(c.done)
	}()
	if killed {
		c.kill()
	}
	return nil
}

// drain is how long what a process has written is read after its end. Only a
// process that has left its group could make it last.
const drain = 2 * time.Second

// ended cleans up after the process.
func (c *child) ended(err error, pipes []*os.File) {
	killGroup(c.cmd.Process.Pid) // what it has left behind
	c.mu.Lock()
	c.state = "exit status 0"
	if err != nil {
		c.state = err.Error()
	}
	c.mu.Unlock()
	for _, p := range pipes {
		_ = p.SetReadDeadline(time.Now().Add(drain))
	}
	c.readers.Wait()
	c.output.end()
	closeAll(append(pipes, c.parent))
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func (c *child) greeted(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello = line
}

// said returns the first line of the child's output, and how it ended if it
// has.
func (c *child) said() (hello, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(c.hello), c.state
}

// Wait implements runner.Runner.
func (c *child) Wait(context.Context) error {
	<-c.done
	return nil
}

// Kill implements runner.Runner: it kills the process and those it has started.
func (c *child) Kill(context.Context) error {
	c.kill()
	return nil
}

func (c *child) kill() {
	p := c.target()
	if p == nil {
		return
	}
	select {
	case <-c.done: // its number may be somebody else's by now
	default:
		killGroup(p.Pid)
		_ = p.Kill()
	}
}

// target returns what is to be killed, or nil if it is not started yet; then it
// is killed as soon as it is.
func (c *child) target() *os.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = c.killed || c.system == nil
	return c.system
}

// cpu returns the processor time of a process that has ended, in microseconds.
func (c *child) cpu() uint64 {
	if s := c.cmd.ProcessState; s != nil {
		return uint64((s.UserTime() + s.SystemTime()).Microseconds())
	}
	return 0
}

// Stdout implements runner.Runner: it has the line of the handshake alone.
func (c *child) Stdout() io.ReadCloser { return c.stdout }

// Stderr implements runner.Runner. It is empty: we read it ourselves.
func (c *child) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name implements runner.Runner.
func (c *child) Name() string { return c.cmd.Path }

// ID implements runner.Runner.
func (c *child) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.system == nil {
		return ""
	}
	return strconv.Itoa(c.system.Pid)
}

// Diagnose implements runner.Runner.
func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: both see the same addresses.
func (c *child) PluginToHost(network, addr string) (string, string, error) { return network, addr, nil }

// HostToPlugin implements runner.Runner.
func (c *child) HostToPlugin(network, addr string) (string, string, error) { return network, addr, nil }

// hostMark is a file in the folder of a process's socket, with the number of
// the host's process. A host that is killed cannot remove such folders: the next
// one does.
const hostMark = "strategylab-host"

// claim marks a folder as one of this process's.
func claim(folder string) error {
	return os.WriteFile(filepath.Join(folder, hostMark), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// sweep removes the folders of hosts that are gone.
func sweep() {
	marks, _ := filepath.Glob(filepath.Join(os.TempDir(), "plugin-dir*", hostMark)) // go-plugin names them so
	for _, mark := range marks {
		info, err := os.Lstat(filepath.Dir(mark))
		if err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		text, err := os.ReadFile(mark)
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(string(text)); err == nil && pid > 0 && !alive(pid) {
			_ = os.RemoveAll(filepath.Dir(mark)) // it is in nobody's way
		}
	}
}

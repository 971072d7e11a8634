package plugins

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/strategylab/strategylab/plugins/subprocess"
)

// child is the process of the operating system, run by go-plugin. Unlike go-plugin's own
// runner it gives it no standard input, a group of its own, and a pipe that closes when
// the host ends.
type child struct {
	cmd    *exec.Cmd
	kill   context.CancelFunc // the process with its descendants; before the start, there will be none
	output *output
	mark   string // in the environment of a program of others and its descendants; empty for our own

	end     func() // of its descendants
	stdout  io.ReadCloser
	parent  *os.File      // the host's end of the pipe; never written to
	hello   atomic.Value  // of type string: the first line of its standard output, if there was one
	done    chan struct{} // closed when it has ended, which cmd.ProcessState describes
	readers sync.WaitGroup
}

var _ runner.Runner = (*child)(nil)

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
	ours[0], theirs[0] = theirs[0], ours[0] // the host holds the write end of the parent pipe
	c.cmd.Stdout, c.cmd.Stderr = theirs[1], theirs[2]
	c.cmd.Env = append(c.cmd.Env, parentKey+"="+strconv.Itoa(subprocess.PassPipe(c.cmd, theirs[0])))
	var err error
	if c.end, err = subprocess.StartGuarded(c.cmd, c.mark); err != nil {
		closeAll(ours)
		return err
	}
	c.parent = ours[0]
	out, in := io.Pipe()
	c.stdout = out
	c.readers.Go(func() { c.greet(ours[1], in) })
	c.readers.Go(func() { c.output.read(ours[2]) })
	go c.wait(ours[1:])
	return nil
}

// drain is the time to read remaining output after the end of a process. Only a
// descendant that left the group can use it up.
const drain = 2 * time.Second

// wait waits for the end of the process and cleans up after it.
func (c *child) wait(pipes []*os.File) {
	_ = c.cmd.Wait() // the state says it
	c.kill()
	c.end()
	for _, p := range pipes {
		_ = p.SetReadDeadline(time.Now().Add(drain))
	}
	c.readers.Wait()
	c.output.end()
	closeAll(append(pipes, c.parent))
	close(c.done)
}

// greet passes on the first line of r, the handshake, and logs everything after it. It
// returns when r ends.
func (c *child) greet(r io.Reader, to *io.PipeWriter) {
	buffered := bufio.NewReaderSize(r, 1<<15) // it contains a certificate
	line, _ := buffered.ReadSlice('\n')       // it may be too long, or end too early
	text := strings.TrimSpace(string(line))
	if c.hello.Store(text); len(line) > 0 {
		_, _ = io.WriteString(to, text+"\n") // go-plugin reads to the end
	}
	c.output.read(buffered)
	_ = to.Close()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// state returns how the process has ended; "" while it has not.
func (c *child) state() string {
	select {
	case <-c.done:
		return c.cmd.ProcessState.String()
	default:
		return ""
	}
}

// Wait implements runner.Runner. It does not wait for a process that was not started.
func (c *child) Wait(context.Context) error {
	if c.cmd.Process != nil {
		<-c.done
	}
	return nil
}

// Kill implements runner.Runner.
func (c *child) Kill(context.Context) error {
	c.kill()
	return nil
}

// pid returns the number of the process, once it is started; 0 if it does not run: after its
// end the system may reuse the number.
func (c *child) pid() int {
	if c.cmd.Process == nil || c.state() != "" {
		return 0
	}
	return c.cmd.Process.Pid
}

// Stdout implements runner.Runner: it contains only the handshake line.
func (c *child) Stdout() io.ReadCloser { return c.stdout }

// Stderr implements runner.Runner. It is empty: child reads it.
func (c *child) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (c *child) Name() string { return c.cmd.Path }

func (c *child) ID() string { return strconv.Itoa(c.pid()) }

func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: both see the same addresses.
func (c *child) PluginToHost(network, addr string) (string, string, error) { return network, addr, nil }

func (c *child) HostToPlugin(network, addr string) (string, string, error) { return network, addr, nil }

// folderPrefix begins the name of the folder with a process's socket, which only this user
// can reach. What identifies the host follows: a host that is killed leaves such folders
// behind, and the next removes them.
const folderPrefix = "strategylab-"

// sweep removes the folders of hosts that have ended; once is enough for a host.
var sweepOnce = sync.OnceFunc(sweep)

func sweep() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*-*")) // the pattern is sound
	for _, folder := range folders {
		host, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), folderPrefix), "-")
		pid, _ := strconv.Atoi(strings.Split(host, ".")[0])
		if info, err := os.Lstat(folder); err == nil && pid > 0 && info.IsDir() && subprocess.Identify(pid) != host {
			_ = os.RemoveAll(folder)
		}
	}
}

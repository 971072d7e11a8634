package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
)

// process is another process and the gRPC connection to it. It starts, watches and ends the
// process of the operating system, and knows why that has ended.
type process struct {
	config   *Config
	own      bool // runs this program, which answers the heartbeat and writes only why it ends
	client   *goplugin.Client
	conn     *grpc.ClientConn
	output   *output
	folder   string // with its socket
	child    *child
	alive    context.Context // until it fails; the cause is why it cannot be used any more
	end      context.CancelCauseFunc
	stopping sync.Once
	silence  time.Duration // see there

	// Of a process that plays strategies:
	play     grpc.BidiStreamingClient[pb.PlayRequest, pb.PlayReply]
	cancel   context.CancelFunc // ends the stream
	reading  sync.WaitGroup
	info     []strategies.Info
	progress bool          // it reports the progress of long steps
	groups   atomic.Uint64 // groups opened so far
	cpu      atomic.Uint64 // microseconds, as the process reports
	waited   atomic.Int64  // nanoseconds, for all steps together
	delayed  time.Duration // of both processes, before the first step

	sending sync.Mutex // held while a request is sent

	mu     sync.Mutex
	single bool // one step was in progress at the failure
	calls  map[uint64]*call
	lastID uint64
}

const (
	// stopTime is the time limit of an orderly shutdown.
	stopTime = 2 * time.Second
	// grace is the time that a process gets beyond the limit of its calls, to report
	// a timeout itself, and to end after its connection.
	grace = 500 * time.Millisecond
	// heartbeat is the time without a message after which a process of this program is
	// asked for a sign of life, and silence the time for that. They are for machines that
	// are busy: a call that does not return is noticed by its time limit.
	heartbeat = 10 * time.Second
	silence   = 20 * time.Second
)

func newProcess(config *Config, own bool) *process {
	out := &output{log: config.Log.With("plugin", config.Name), own: own}
	alive, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(alive, config.Command[0], config.Command[1:]...)
	cmd.Cancel = func() error {
		subprocess.Kill(cmd)
		return nil
	}
	c := &child{cmd: cmd, kill: kill, output: out, done: make(chan struct{})}
	p := &process{config: config, own: own, output: out, child: c, silence: silence, calls: make(map[uint64]*call)}
	p.alive, p.end = context.WithCancelCause(context.Background())
	return p
}

// launch starts the program, connects to it, and has open, unless it is nil, use the
// connection. ctx bounds only the start. After an error the process has ended.
func (p *process) launch(ctx context.Context, open func(context.Context) error) error {
	sweepOnce()
	var err error
	if p.folder, err = os.MkdirTemp("", folderPrefix+subprocess.Identify(os.Getpid())+"-*"); err != nil {
		return fmt.Errorf("start plugin %s: %w", p.config.Name, err)
	}
	options := []grpc.DialOption{grpc.WithNoProxy(), grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window)}
	if p.own { // libraries of other languages take pings for an attack
		options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: heartbeat, Timeout: p.silence}))
	}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{Version: {pluginName: &served{}}},
		RunnerFunc:       p.spawn,
		AutoMTLS:         !p.config.NoTLS, SkipHostEnv: true, StartTimeout: p.config.StartTimeout,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(), SyncStdout: p.output, SyncStderr: p.output,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.folder},
		GRPCDialOptions:  options,
	})
	bounded, cancel := context.WithTimeout(ctx, p.config.StartTimeout)
	defer cancel()
	unhook := context.AfterFunc(bounded, p.child.kill)
	if err = p.connect(); err == nil && open != nil {
		err = open(bounded)
	}
	if !unhook() && err == nil {
		err = context.Cause(bounded)
	}
	if err == nil {
		return nil
	}
	p.child.kill()
	p.stop()
	if ctx.Err() != nil {
		return fmt.Errorf("start plugin %s: %w", p.config.Name, context.Cause(ctx))
	}
	return p.explain(err, bounded.Err() != nil)
}

// spawn prepares the operating system process for go-plugin to start.
func (p *process) spawn(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
	// GOMAXPROCS: idle threads that look for work cost as much as the work.
	env := append(spec.Env, goplugin.EnvUnixSocketDir+"="+p.folder, "TMPDIR="+p.folder, "PATH=/usr/local/bin:/usr/bin:/bin", fmt.Sprint("GOMAXPROCS=", runtime.GOMAXPROCS(0)))
	if p.own {
		env = append(env, "GOTRACEBACK=none") // the stacks of our goroutines tell nobody anything
	} else {
		env = append(env, fmt.Sprint(limitKey, "=", p.config.CallTime.Microseconds()))
		if !p.config.NoChildren {
			p.child.mark = "TMPDIR=" + p.folder
		}
	}
	if p.config.Values != "" {
		env = append(env, ParamsVariable+"="+p.config.Values)
	}
	p.child.cmd.Dir, p.child.cmd.Env = p.folder, append(env, p.config.Env...)
	return p.child, nil
}

// connect performs the handshake.
func (p *process) connect() error {
	addr, err := p.client.Start()
	if err == nil && addr.Network() == "unix" {
		err = os.Chmod(addr.String(), 0o600)
	}
	if err != nil {
		return err
	}
	if p.config.NoTLS && (addr.Network() != "unix" || filepath.Dir(addr.String()) != p.folder) {
		return fmt.Errorf("it listens at %s %s; without mTLS it must listen on a socket in the folder named by %s",
			addr.Network(), addr, goplugin.EnvUnixSocketDir)
	}
	rpc, err := p.client.Client()
	if err != nil {
		return err
	}
	p.conn = rpc.(*goplugin.GRPCClient).Conn
	return nil
}

// stop ends the process, orderly if it can, waits for its end, and removes its folder.
func (p *process) stop() {
	p.stopping.Do(func() {
		p.fail(errStopped)
		if p.play != nil && p.sending.TryLock() { // else it does not read
			_ = p.play.CloseSend()
			p.sending.Unlock()
		}
		impatient := time.AfterFunc(stopTime, p.child.kill)
		if p.client != nil {
			p.client.Kill()
		}
		impatient.Stop()
		p.child.kill()
		_ = p.child.Wait(context.Background()) // it returns nil
		_ = os.RemoveAll(p.folder)
		if p.cancel != nil {
			p.cancel()
		}
		p.reading.Wait()
	})
}

// errStopped is why a process cannot be used that the host has stopped. It is not to blame.
var errStopped = fmt.Errorf("%w: the host stopped it", strategies.ErrCrashed)

// fail marks the process as failed, once, and kills it unless the host stops it.
func (p *process) fail(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure() != nil {
		return
	}
	p.single = len(p.calls) == 1
	if p.end(why); why != errStopped {
		p.child.kill()
	}
}

// busy returns the part of the time that the host has waited in which neither of the two
// processes waited for a processor; 0 if the system does not say.
func (p *process) busy() float64 {
	delayed, known := p.delays()
	if !known {
		return 0
	}
	return 1 - float64(delayed-p.delayed)/float64(p.waited.Load())
}

// delays returns how long this process and the other have waited for a processor.
func (p *process) delays() (time.Duration, bool) {
	theirs, known := subprocess.Delayed(p.child.pid())
	ours, _ := subprocess.Delayed(os.Getpid())
	return theirs + ours, known
}

// failure returns why the process cannot be used; nil while it can.
func (p *process) failure() error { return context.Cause(p.alive) }

// errStuck is the end of a worker by its own report.
var errStuck = fmt.Errorf("%w: %s", strategies.ErrTimeout, stuckText)

// exitError returns how the process ended whose connection broke with err, shortly
// before the exit status is known.
func (p *process) exitError(err error) error {
	select {
	case <-p.child.done:
	case <-time.After(grace):
	}
	if state := p.child.state(); state != "" {
		return p.ended(state)
	}
	if strings.Contains(err.Error(), "keepalive") { // there is no other sign of it
		return fmt.Errorf("%w: silent for %v", strategies.ErrCrashed, heartbeat+p.silence)
	}
	return fmt.Errorf("%w: connection closed: %s", strategies.ErrCrashed, strategies.OneLine(err.Error(), mostText))
}

// noMemory is how a process with a memory limit ends there: by Go's runtime, by
// the C library, by the race detector, or by a signal where one of them does not expect
// the end of the memory.
var noMemory = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("out of memory|cannot allocate memory|pthread_create failed|failed to allocate|^SIG")
})

// ended returns the error of a process whose exit state is known.
func (p *process) ended(state string) error {
	switch words := p.output.reason(); {
	case p.own && words == stuckText:
		return errStuck
	case p.config.Memory > 0 && noMemory().MatchString(words):
		return fmt.Errorf("%w: out of memory, of which a script has %d MiB", strategies.ErrCrashed, p.config.Memory>>20)
	case words != "":
		return fmt.Errorf("%w: %s; last output: %s", strategies.ErrCrashed, state, words)
	}
	return fmt.Errorf("%w: %s", strategies.ErrCrashed, state)
}

// explain returns the reason of a failed start, for the user of the plugin.
func (p *process) explain(err error, late bool) error {
	hello, _ := p.child.hello.Load().(string)
	state := p.child.state()
	parts := strings.Split(hello, "|")
	var typed *strategies.Error
	switch {
	case errors.As(err, &typed):
		return err // of a script
	case len(parts) >= 4 && parts[1] != fmt.Sprint(Version):
		return fmt.Errorf("plugin %s: protocol version %s, want %d; "+
			"rebuild the plugin with this program's version of the module", p.config.Name, strategies.OneLine(parts[1], 20), Version)
	case p.own && state != "" && (len(parts) >= 4 || p.config.Script == nil):
		if err = p.ended(state); late {
			err = fmt.Errorf("%w: not loaded within %v", strategies.ErrTimeout, p.config.StartTimeout)
		}
		if s := p.config.Script; s != nil { // it has kept the worker from being ready
			err = &strategies.Error{Source: s.Path, Op: strategies.OpLoad, Err: err}
		}
		return err
	case len(parts) < 4 && hello != "":
		err = fmt.Errorf("its first line of output is %q, want 1|%d|unix|PATH|grpc|CERTIFICATE; is it a plugin?",
			strategies.OneLine(hello, 60), Version)
	case len(parts) < 4 && late:
		err = fmt.Errorf("no handshake within %v", p.config.StartTimeout)
	case len(parts) < 4:
		err = fmt.Errorf("it ended before the handshake (%s)", state)
	case !p.config.NoTLS && len(parts) < 6 || len(parts) >= 6 && len(parts[5]) <= 50:
		err = fmt.Errorf("it does not support mTLS; if its language cannot, run: strategylab plugins lock --no-tls %s",
			filepath.Base(p.config.Name))
	default:
		err = errors.New(strategies.OneLine(err.Error(), mostText))
	}
	if words := p.output.reason(); words != "" {
		err = fmt.Errorf("%w; last output: %s", err, words)
	}
	return fmt.Errorf("start plugin %s: %w", p.config.Name, err)
}

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

// process is one process of a plugin and its stream.
type process struct {
	config   *Config
	client   *goplugin.Client
	conn     *grpc.ClientConn
	stream   grpc.BidiStreamingClient[pb.PlayRequest, pb.PlayReply]
	cancel   context.CancelFunc // ends the stream
	reading  sync.WaitGroup
	info     []strategies.Info
	progress bool          // it reports the progress of long steps
	groups   atomic.Uint64 // groups opened so far
	cpu      atomic.Uint64 // microseconds, as the process reports
	died     chan struct{} // closed when the process fails
	stopping sync.Once
	output   *output
	folder   string // with its socket

	mu       sync.Mutex
	child    *child // nil until it is started
	why      error  // why it cannot be used; nil while it can
	innocent bool   // the failure is not its fault
	single   bool   // one step was in progress at the failure
	calls    map[uint64]*call
	lastID   uint64
	queue    *pb.PlayRequest
	sending  bool
}

// stopTime is the time limit of an orderly shutdown.
const stopTime = 2 * time.Second

// start starts the program and opens the stream. ctx bounds only the start.
func start(ctx context.Context, config *Config) (*process, error) {
	p := &process{
		config: config, died: make(chan struct{}), calls: make(map[uint64]*call), queue: new(pb.PlayRequest),
		output: &output{log: config.Log.With("plugin", config.Name), own: config.Script != nil},
	}
	if err := config.verify(); err != nil {
		return nil, err
	}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{Version: {pluginName: &served{}}},
		RunnerFunc:       p.spawn,
		AutoMTLS:         !config.NoTLS, SkipHostEnv: true, StartTimeout: config.StartTimeout,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(), SyncStdout: p.output, SyncStderr: p.output,
		UnixSocketConfig: &goplugin.UnixSocketConfig{},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithNoProxy(), grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		},
	})
	bounded, cancel := context.WithTimeout(ctx, config.StartTimeout)
	defer cancel()
	unhook := context.AfterFunc(bounded, p.kill)
	err := p.open(bounded)
	if !unhook() && err == nil {
		err = context.Cause(bounded)
	}
	if err != nil {
		p.kill()
		p.stop()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("start plugin %s: %w", config.Name, context.Cause(ctx))
		}
		return nil, p.explain(err, bounded.Err() != nil)
	}
	return p, nil
}

// spawn prepares the operating system process for go-plugin to start.
func (p *process) spawn(_ hclog.Logger, spec *exec.Cmd, folder string) (runner.Runner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// GOMAXPROCS: idle threads that look for work cost as much as the work.
	env := append(spec.Env, "TMPDIR="+folder, "PATH=/usr/local/bin:/usr/bin:/bin", "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	p.folder = folder
	if err := claim(folder); err != nil {
		return nil, err
	}
	p.child = newChild(p.config, folder, append(env, p.config.Env...), p.output)
	return p.child, nil
}

// open performs the handshake, asks for the strategies, and opens the stream.
func (p *process) open(ctx context.Context) error {
	addr, err := p.client.Start()
	if err != nil {
		return err
	}
	if addr.Network() == "unix" {
		if err := os.Chmod(addr.String(), 0o600); err != nil {
			return fmt.Errorf("make the socket private: %w", err)
		}
	}
	if p.config.NoTLS && (addr.Network() != "unix" || filepath.Dir(addr.String()) != p.folder) {
		return fmt.Errorf("it listens at %s %s; without mTLS it must listen on a socket in the folder named by %s",
			addr.Network(), addr, goplugin.EnvUnixSocketDir)
	}
	rpc, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := rpc.Dispense(pluginName)
	if err != nil {
		return err
	}
	p.conn = raw.(*grpc.ClientConn)
	strategiesClient := pb.NewStrategiesClient(p.conn)
	if err := p.describe(ctx, strategiesClient); err != nil {
		return err
	}
	streaming, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.stream, err = strategiesClient.Play(streaming, grpc.MaxCallRecvMsgSize(wire.MostMessage))
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	p.reading.Go(p.read)
	return nil
}

func (p *process) describe(ctx context.Context, c pb.StrategiesClient) error {
	told, err := c.Describe(ctx, &pb.DescribeRequest{}, grpc.MaxCallRecvMsgSize(wire.MostMessage))
	if err != nil {
		return fmt.Errorf("ask for its strategies: %w", err)
	}
	p.progress = told.GetProgress()
	if script := p.config.Script; script != nil {
		return p.load(ctx, c, script)
	}
	if len(told.GetStrategies()) == 0 {
		return errors.New("it serves no strategy")
	}
	for _, s := range told.GetStrategies() {
		p.info = append(p.info, p.config.infoOf(s))
	}
	return nil
}

// load sends a script to the worker. Errors in the script are
// *strategies.Error.
func (p *process) load(ctx context.Context, c pb.StrategiesClient, s *Script) error {
	reply, err := c.Load(ctx, &pb.LoadRequest{
		Name: s.Name, Path: s.Path, Source: s.Source, TimeUs: uint64(s.Limits.Time.Microseconds()),
		Instructions: s.Limits.Instructions, MemoryBytes: p.config.Memory,
	}, grpc.MaxCallRecvMsgSize(wire.MostMessage))
	if err != nil {
		return fmt.Errorf("send the script: %w", err)
	}
	if f := reply.GetFailure(); f != nil {
		se, err := wire.DecodeFailure(f, s.Path)
		if err != nil {
			return err
		}
		return se.Err
	}
	info := p.config.infoOf(reply.GetStrategy())
	info.Kind = s.Kind
	p.info = []strategies.Info{info}
	return nil
}

// kill ends the process at once.
func (p *process) kill() {
	p.mu.Lock()
	c := p.child
	p.mu.Unlock()
	if c != nil {
		c.kill()
	}
}

// stop ends the process, orderly if it can, and removes its folder.
func (p *process) stop() {
	p.stopping.Do(func() {
		p.fail(errStopped, true)
		if p.stream != nil {
			_ = p.stream.CloseSend()
		}
		impatient := time.AfterFunc(stopTime, p.kill)
		p.client.Kill()
		impatient.Stop()
		p.kill()
		if p.child != nil && p.child.ID() != "" {
			<-p.child.done
		}
		if p.cancel != nil {
			p.cancel()
		}
		p.reading.Wait()
		if p.folder != "" {
			_ = os.RemoveAll(p.folder)
		}
	})
}

var errStopped = fmt.Errorf("%w: the host stopped it", strategies.ErrCrashed)

// explain returns the reason of a failed start, for the user of the plugin.
func (p *process) explain(err error, late bool) error {
	hello, state := "", ""
	if p.child != nil {
		hello, state = p.child.status()
	}
	parts := strings.Split(hello, "|")
	var typed *strategies.Error
	switch {
	case errors.As(err, &typed):
		return err // of a script
	case len(parts) >= 4 && parts[1] != fmt.Sprint(Version):
		return fmt.Errorf("plugin %s: protocol version %s, want %d; "+
			"rebuild the plugin with this program's version of the module", p.config.Name, strategies.OneLine(parts[1], 20), Version)
	case p.config.Script != nil && len(parts) >= 4:
		return p.ended(state, late)
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

// ended returns the error of a script that has kept its worker from loading it.
func (p *process) ended(state string, late bool) error {
	err := fmt.Errorf("%w: %s", strategies.ErrCrashed, p.exited(state))
	if late {
		err = fmt.Errorf("%w: not loaded within %v", strategies.ErrTimeout, p.config.StartTimeout)
	} else if p.output.reason() == stuckText {
		err = errStuck
	}
	return &strategies.Error{Source: p.config.Script.Path, Op: strategies.OpLoad, Err: err}
}

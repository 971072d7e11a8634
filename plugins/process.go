package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// process is one run of a plugin, with the stream on which it plays.
type process struct {
	config   *Config
	client   *goplugin.Client
	conn     *grpc.ClientConn
	stream   grpc.BidiStreamingClient[pb.PlayRequest, pb.PlayReply]
	cancel   context.CancelFunc // ends the stream
	reading  sync.WaitGroup
	info     []strategies.Info
	progress bool          // it tells how far long steps are
	groups   atomic.Uint64 // how many were opened
	cpu      atomic.Uint64 // microseconds, as the process says
	died     chan struct{} // closed once it cannot be used any more
	stopping sync.Once
	output   *output
	folder   string // its own, with the socket in it

	mu       sync.Mutex
	child    *child // nil until it is started
	why      error  // it cannot be used any more
	innocent bool   // that is not its fault
	calls    map[uint64]*call
	lastID   uint64
	queue    *pb.PlayRequest
	sending  bool
}

// stopTime is how long a process may take to end when it is asked to.
const stopTime = 2 * time.Second

// start starts the program and opens the stream. The process outlives ctx,
// which bounds the start alone.
func start(ctx context.Context, config *Config) (*process, error) {
	p := &process{
		config: config, died: make(chan struct{}), calls: make(map[uint64]*call), queue: new(pb.PlayRequest),
		output: &output{log: config.Log.With("plugin", config.Name)},
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

// spawn makes the operating system process, for go-plugin to start.
func (p *process) spawn(_ hclog.Logger, spec *exec.Cmd, folder string) (runner.Runner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	env := append(spec.Env, "TMPDIR="+folder, "PATH=/usr/local/bin:/usr/bin:/bin")
	p.folder = folder
	if err := claim(folder); err != nil {
		return nil, err
	}
	p.child = newChild(p.config.Command, folder, append(env, p.config.Env...), p.output)
	return p.child, nil
}

// open shakes hands, asks what there is to play, and begins to.
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
		return fmt.Errorf("it listens at %s %s; without mTLS it has to be a socket in the folder that %s names",
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
	p.stream, err = strategiesClient.Play(streaming, grpc.MaxCallRecvMsgSize(mostMessage))
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	p.reading.Go(p.read)
	return nil
}

func (p *process) describe(ctx context.Context, c pb.StrategiesClient) error {
	told, err := c.Describe(ctx, &pb.DescribeRequest{}, grpc.MaxCallRecvMsgSize(mostMessage))
	if err != nil {
		return fmt.Errorf("ask what it plays: %w", err)
	}
	p.progress = told.GetProgress()
	if script := p.config.Script; script != nil {
		return p.load(ctx, c, script)
	}
	if len(told.GetStrategies()) == 0 {
		return errors.New("it plays no strategy")
	}
	for _, s := range told.GetStrategies() {
		p.info = append(p.info, p.config.infoOf(s))
	}
	return nil
}

// load hands over a script. What is wrong with the script is a
// *strategies.Error.
func (p *process) load(ctx context.Context, c pb.StrategiesClient, s *Script) error {
	reply, err := c.Load(ctx, &pb.LoadRequest{
		Name: s.Name, Path: s.Path, Source: s.Source, TimeUs: uint64(s.Limits.Time.Microseconds()),
		Instructions: s.Limits.Instructions, MemoryBytes: p.config.Memory,
	}, grpc.MaxCallRecvMsgSize(mostMessage))
	if err != nil {
		return fmt.Errorf("hand over the script: %w", err)
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

// stop ends the process, asking it first, and leaves nothing behind.
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

var errStopped = fmt.Errorf("%w: it was stopped", strategies.ErrCrashed)

// explain says why a start has failed, in words for whoever keeps the plugin.
func (p *process) explain(err error, late bool) error {
	hello, state := "", ""
	if p.child != nil {
		hello, state = p.child.said()
	}
	parts := strings.Split(hello, "|")
	var typed *strategies.Error
	switch {
	case errors.As(err, &typed):
		return err // of a script
	case len(parts) >= 4 && parts[1] != fmt.Sprint(Version):
		return fmt.Errorf("plugin %s speaks version %s of the protocol, this program version %d: "+
			"build the plugin again with the module in the version of this program", p.config.Name, strategies.OneLine(parts[1], 20), Version)
	case len(parts) < 4 && hello != "":
		err = fmt.Errorf("its first line of output is %q, want 1|%d|unix|PATH|grpc|CERTIFICATE; is it a plugin?",
			strategies.OneLine(hello, 60), Version)
	case len(parts) < 4 && late:
		err = fmt.Errorf("it did not say within %v where it listens", p.config.StartTimeout)
	case len(parts) < 4:
		err = fmt.Errorf("it ended (%s) before it said where it listens", state)
	case !p.config.NoTLS && len(parts) < 6 || len(parts) >= 6 && len(parts[5]) <= 50:
		err = fmt.Errorf("it does not speak mTLS; if its language cannot, accept that with: strategylab plugins lock --no-tls %s",
			filepath.Base(p.config.Name))
	default:
		err = errors.New(strategies.OneLine(err.Error(), mostText))
	}
	if words := p.output.words(); words != "" {
		err = fmt.Errorf("%w; its last words: %s", err, words)
	}
	return fmt.Errorf("plugin %s does not start: %w", p.config.Name, err)
}

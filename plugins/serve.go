package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Version is the version of the protocol. Host and plugin must have the same.
const Version = 1

// Environment variables of a plugin, besides those of go-plugin.
const (
	cookieKey   = "STRATEGYLAB_PLUGIN"
	cookieValue = "league.v2"
	// parentKey names the file descriptor of a pipe that closes when the host
	// ends.
	parentKey = "STRATEGYLAB_PARENT_FD"
	// limitKey names the time limit of a call of a strategy, in microseconds.
	limitKey = "STRATEGYLAB_CALL_US"
)

// ParamsVariable is the environment variable with the values that a host gives to the
// parameters of a plugin: "horizon=8;greed=0.3", checked against what the description of
// the strategy declares. It is not set for the defaults.
const ParamsVariable = "STRATEGYLAB_PARAMS"

// Values returns, in a plugin, the values of the parameters as ParamsVariable has them;
// empty for the defaults.
func Values() string { return os.Getenv(ParamsVariable) }

func handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{ProtocolVersion: Version, MagicCookieKey: cookieKey, MagicCookieValue: cookieValue}
}

// Serve serves strategies to the host that started this process. It returns when
// the host is done; main should then return as well. If a person started the
// process, Serve prints a message and exits. Serve closes the factories. A
// factory that is a strategies.Batcher receives whole steps.
func Serve(factories ...strategies.Factory) {
	serve(&server{factories: factories})
}

// ServeScript is Serve for a worker: the host sends it the source of one script, which
// load compiles without reading the file. memory is the memory limit of the process in
// bytes, which load sets.
func ServeScript(load func(s Script, memory uint64) (strategies.Factory, error)) {
	serve(&server{load: load})
}

// server is the plugin's side of the protocol.
type server struct {
	pb.UnimplementedStrategiesServer
	load func(Script, uint64) (strategies.Factory, error)

	stuck chan<- struct{} // ends the process
	limit time.Duration   // of a call; 0 if others see to it

	mu        sync.Mutex
	factories []strategies.Factory
}

func serve(s *server) {
	s.stuck = endWhenStuck()
	if us, err := strconv.ParseInt(os.Getenv(limitKey), 10, 64); err == nil {
		s.limit = time.Duration(us) * time.Microsecond
	}
	serveGRPC(wire.MostMessage, func(g *grpc.Server) { pb.RegisterStrategiesServer(g, s) })
	for _, f := range s.factories {
		_ = f.Close() // the host has gone
	}
}

// serveGRPC serves the host that started this process until that is done. The process
// ends with the host.
func serveGRPC(mostMessage int, register func(*grpc.Server)) {
	watchParent()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{Version: {pluginName: &served{register: register}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(mostMessage),
				grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: heartbeat / 2}),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr}),
	})
}

// watchParent ends this process when the host ends, for whatever reason.
func watchParent() {
	fd, err := strconv.Atoi(os.Getenv(parentKey))
	if err != nil {
		return
	}
	pipe := os.Stdin
	if fd > 0 {
		pipe = os.NewFile(uintptr(fd), "parent")
	}
	go func() {
		var b [1]byte
		for {
			if _, err := pipe.Read(b[:]); err != nil {
				break
			}
		}
		if dir := os.Getenv(goplugin.EnvUnixSocketDir); dir != "" {
			_ = os.RemoveAll(dir) // the host cannot do it any more
		}
		// Kill, not exit: nothing deferred or locked may delay it.
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
	}()
}

// factory returns the i-th strategy.
func (s *server) factory(i uint32) (strategies.Factory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(i) >= len(s.factories) {
		return nil, fmt.Errorf("no strategy %d: this process serves %d", i, len(s.factories))
	}
	return s.factories[i], nil
}

// Describe implements the protocol.
func (s *server) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := &pb.DescribeReply{Progress: true}
	for _, f := range s.factories {
		if _, own := f.(strategies.Batcher); own {
			reply.Progress = false // its calls are not counted
		}
		reply.Strategies = append(reply.Strategies, describe(f.Info()))
	}
	return reply, nil
}

func describe(i strategies.Info) *pb.Strategy {
	return &pb.Strategy{Name: i.Name, Title: i.Title, Description: i.Description, Fingerprint: i.Fingerprint}
}

// Load implements the protocol.
func (s *server) Load(_ context.Context, r *pb.LoadRequest) (*pb.LoadReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.load == nil || len(s.factories) > 0 {
		return nil, errors.New("this process does not load scripts")
	}
	f, err := s.load(scriptOf(r, s.stuck), r.GetMemoryBytes())
	if err == nil {
		s.factories = append(s.factories, f)
	}
	return loaded(f, err), nil
}

func scriptOf(r *pb.LoadRequest, stuck chan<- struct{}) Script {
	limits := budget.Limits{Time: time.Duration(r.GetTimeUs()) * time.Microsecond, Instructions: r.GetInstructions(), Stuck: stuck}
	return Script{Name: r.GetName(), Path: r.GetPath(), Source: r.GetSource(), Limits: limits}
}

// loaded returns the answer of a worker that was to load a script.
func loaded(f strategies.Factory, err error) *pb.LoadReply {
	if err != nil {
		return &pb.LoadReply{Failure: wire.EncodeFailure(strategies.SeatError{Op: strategies.OpLoad, Err: err})}
	}
	return &pb.LoadReply{Strategy: describe(f.Info())}
}

// stuckText is what a worker says of a call that ignores its interrupt, before it ends
// itself.
const stuckText = "the call ignored its interrupt"

// endWhenStuck returns a channel on which the report of a stuck call ends this process.
func endWhenStuck() chan<- struct{} {
	stuck, stderr := make(chan struct{}, 1), os.Stderr // which go-plugin replaces
	go func() {                                        // for as long as the process lives
		<-stuck
		fmt.Fprintln(stderr, stuckText)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
	}()
	return stuck
}

// pluginName is the name of the strategies in go-plugin.
const pluginName = "strategies"

// window is the gRPC flow-control window in bytes: far more than a step of
// hundreds of seats. A fixed window saves the pings that estimate one.
const window = 4 << 20

// served connects go-plugin to the gRPC service.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

var _ goplugin.GRPCPlugin = (*served)(nil)

func (p *served) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	p.register(s)
	return nil
}

func (p *served) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

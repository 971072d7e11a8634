package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	// parentKey names the file descriptor of a pipe that closes when the host ends.
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

// Serve serves strategies to the host that started this process, and closes them when the
// host is done; main should then return. If a person started the process, it prints a
// message and exits. A factory that is a strategies.Batcher receives whole steps.
func Serve(factories ...strategies.Factory) {
	serve(&server{factories: factories})
}

// server is the side of a plugin and of a worker of the protocol.
type server struct {
	pb.UnimplementedStrategiesServer
	pb.UnimplementedWorkerServer
	tasks Tasks // nil in a plugin
	log   logLines
	limit time.Duration // of a call; 0 if others see to it

	mu        sync.Mutex // held during a task
	factories []strategies.Factory
}

func serve(s *server) {
	if us, err := strconv.ParseInt(os.Getenv(limitKey), 10, 64); err == nil {
		s.limit = time.Duration(us) * time.Microsecond
	}
	watchParent()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{Version: {pluginName: &served{server: s}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(mostTask),
				grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: heartbeat / 2}),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr}),
	})
	s.close() // the host has gone
}

func (s *server) close() {
	for _, f := range s.factories {
		_ = f.Close()
	}
	s.factories = nil
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
		_, _ = io.Copy(io.Discard, pipe)                       // to its end
		_ = os.RemoveAll(os.Getenv(goplugin.EnvUnixSocketDir)) // the host cannot do it any more
		killSelf()
	}()
}

// killSelf ends this process. Nothing deferred or locked can delay it, as it could an exit.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
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
	if s.tasks == nil {
		return nil, errors.New("this process does not load scripts")
	}
	s.close()
	limits := budget.Limits{Time: time.Duration(r.GetTimeUs()) * time.Microsecond, Instructions: r.GetInstructions()}
	f, err := s.tasks.Load(Script{Name: r.GetName(), Path: r.GetPath(), Source: r.GetSource(), Limits: limits}, r.GetMemoryBytes())
	if err != nil {
		return &pb.LoadReply{Failure: wire.EncodeFailure(strategies.SeatError{Op: strategies.OpLoad, Err: err})}, nil
	}
	s.factories = []strategies.Factory{f}
	return &pb.LoadReply{Strategy: describe(f.Info())}, nil
}

// stuckText is what a worker says of a call that ignores its interrupt, before it ends
// itself.
const stuckText = "the call ignored its interrupt"

// ServeTasks is the main function of a worker. It gives open a log, whose lines the host
// receives with the next reply, and a channel on which the report of a call that ignores
// its interrupt ends the process.
func ServeTasks(open func(log *slog.Logger, stuck chan<- struct{}) Tasks) {
	s, stuck, stderr := new(server), make(chan struct{}, 1), os.Stderr // which go-plugin replaces
	go func() {                                                        // for as long as the process lives
		<-stuck
		fmt.Fprintln(stderr, stuckText)
		killSelf()
	}()
	s.tasks = open(slog.New(&logHandler{lines: &s.log}), stuck)
	serve(s)
}

// pluginName is the name of the strategies in go-plugin.
const pluginName = "strategies"

// window is the gRPC flow-control window in bytes: far more than a step of
// hundreds of seats. A fixed window saves the pings that estimate one.
const window = 4 << 20

// served connects go-plugin to the gRPC service.
type served struct {
	server *server // nil in the host
	goplugin.NetRPCUnsupportedPlugin
}

var _ goplugin.GRPCPlugin = (*served)(nil)

func (p *served) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterStrategiesServer(s, p.server)
	if p.server.tasks != nil {
		pb.RegisterWorkerServer(s, p.server)
	}
	return nil
}

func (p *served) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil // the host takes the connection of go-plugin's client
}

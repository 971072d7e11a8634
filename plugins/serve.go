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

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Version is the version of the protocol. A host and a plugin of different
// versions do not play together.
const Version = 1

// What a plugin finds in its environment, besides what go-plugin puts there.
const (
	cookieKey   = "STRATEGYLAB_PLUGIN"
	cookieValue = "league.v2"
	// parentKey names the file descriptor of a pipe that is closed when the
	// host ends.
	parentKey = "STRATEGYLAB_PARENT_FD"
)

func handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{ProtocolVersion: Version, MagicCookieKey: cookieKey, MagicCookieValue: cookieValue}
}

// Serve plays strategies for the host that has started this process, and
// returns when the host is done with it, for main to return as well. If no host
// has started the process it says so and exits. The factories are safe for
// concurrent use, as all are; Serve closes them. A factory that is a
// strategies.Batcher gets its steps whole.
func Serve(factories ...strategies.Factory) {
	serve(&server{factories: factories})
}

// Loader makes a factory of the source of a script. path is what messages call
// the file; nothing is read from it. memory is what the process may take up in
// all, in bytes; the loader sees to that.
type Loader func(name, path string, source []byte, limits budget.Limits, memory uint64) (strategies.Factory, error)

// ServeScript is Serve for a worker that plays one script, of which the host
// sends the source.
func ServeScript(load Loader) { serve(&server{load: load}) }

// server is the plugin's side of the protocol.
type server struct {
	pb.UnimplementedStrategiesServer
	load Loader

	mu        sync.Mutex
	factories []strategies.Factory
}

func serve(s *server) {
	watchParent()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{Version: {pluginName: &served{server: s}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(mostMessage),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr}),
	})
	for _, f := range s.factories {
		_ = f.Close() // nobody is left to be told
	}
}

// watchParent ends the process when the host does, however that ends.
func watchParent() {
	fd, err := strconv.Atoi(os.Getenv(parentKey))
	if err != nil || fd < 3 {
		return
	}
	pipe := os.NewFile(uintptr(fd), "parent")
	go func() {
		var b [1]byte
		for {
			if _, err := pipe.Read(b[:]); err != nil {
				break
			}
		}
		if dir := os.Getenv(goplugin.EnvUnixSocketDir); dir != "" {
			_ = os.RemoveAll(dir) // what the host has no time to do any more
		}
		// Not an exit: nothing that is deferred or locked may hold it up.
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
	}()
}

// factory returns a strategy by its place.
func (s *server) factory(i uint32) (strategies.Factory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(i) >= len(s.factories) {
		return nil, fmt.Errorf("there is no strategy %d here, but %d", i, len(s.factories))
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
			reply.Progress = false // its calls are not seen
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
		return nil, errors.New("this process plays what it was built with")
	}
	limits := budget.Limits{Time: time.Duration(r.GetTimeUs()) * time.Microsecond, Instructions: r.GetInstructions()}
	f, err := s.load(r.GetName(), r.GetPath(), r.GetSource(), limits, r.GetMemoryBytes())
	if err != nil {
		return &pb.LoadReply{Failure: wire.EncodeFailure(strategies.SeatError{Op: strategies.OpLoad, Err: err})}, nil
	}
	s.factories = append(s.factories, f)
	return &pb.LoadReply{Strategy: describe(f.Info())}, nil
}

// pluginName is what go-plugin knows the strategies by.
const pluginName = "strategies"

// mostMessage bounds one message, in bytes.
const mostMessage = 16 << 20

// window is how much may be under way unread, in bytes: far more than a step of
// hundreds of seats. Given in advance, it need not be found out by sending pings
// beside the messages.
const window = 4 << 20

// served is the two ends that go-plugin joins.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	server *server
}

var _ goplugin.GRPCPlugin = (*served)(nil)

// GRPCServer implements goplugin.GRPCPlugin.
func (p *served) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterStrategiesServer(s, p.server)
	return nil
}

// GRPCClient implements goplugin.GRPCPlugin.
func (p *served) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

package plugins_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
)

// The plugin as it would be with a unary call for every decision: the same
// go-plugin, encryption and messages, and nothing to decide.
var (
	unaryHandshake = goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "STRATEGYLAB_UNARY", MagicCookieValue: "1"}
	unaryPlugins   = goplugin.PluginSet{"unary": unaryPlugin{}}
)

const unaryMethod = "/strategylab.test.Unary/Choose"

func serveUnary() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: unaryHandshake, Plugins: unaryPlugins, GRPCServer: goplugin.DefaultGRPCServer,
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
	})
}

type unaryPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (unaryPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "strategylab.test.Unary", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Choose", Handler: chooseEven}},
	}, struct{}{})
	return nil
}

func (unaryPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// chooseEven answers a step of one choice.
func chooseEven(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var asked pb.PlayRequest
	if err := decode(&asked); err != nil {
		return nil, err
	}
	return &pb.PlayReply{Steps: []*pb.StepReply{{Id: asked.GetSteps()[0].GetId(), Choices: []byte{1}}}}, nil
}

// openUnary starts it.
func openUnary(b *testing.B) *grpc.ClientConn {
	b.Helper()
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: unaryHandshake, Plugins: unaryPlugins, Cmd: exec.Command(os.Args[0], "unary", "-"),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, AutoMTLS: true,
		Logger: hclog.NewNullLogger(), SyncStdout: io.Discard, SyncStderr: io.Discard,
	})
	b.Cleanup(client.Kill)
	rpc, err := client.Client()
	if err != nil {
		b.Fatal(err)
	}
	conn, err := rpc.Dispense("unary")
	if err != nil {
		b.Fatal(err)
	}
	return conn.(*grpc.ClientConn)
}

// unaryCalls makes one call after another for a second, each with the outcome
// of one match and the turn of the next, and returns how many it made.
func unaryCalls(b *testing.B, conn *grpc.ClientConn) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Second)
	defer cancel()
	n := 0
	for ; ctx.Err() == nil; n++ {
		ask := &pb.PlayRequest{Steps: []*pb.Step{{
			Id: uint64(n), Group: 1,
			Observe: &pb.Outcomes{Seat: []int64{0}, How: []byte{0xb6}, Number: []int64{7}},
			Choose:  &pb.Turns{Seat: []int64{0}, Match: []uint64{9}, Round: []uint32{4}, Pair: []uint32{1}, Opponent: []uint32{3}, Role: []byte{1}},
		}}}
		var reply pb.PlayReply
		if err := conn.Invoke(b.Context(), unaryMethod, ask, &reply); err != nil {
			b.Fatal(err)
		}
		if s := reply.GetSteps(); len(s) != 1 || len(s[0].GetChoices()) != 1 {
			b.Fatalf("the answer is %v", &reply)
		}
	}
	return float64(n)
}

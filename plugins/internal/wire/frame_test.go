package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
)

// trickle returns its bytes a few at a time.
type trickle struct {
	io.Writer
	from io.Reader
	n    int
}

func (t trickle) Read(p []byte) (int, error) { return t.from.Read(p[:min(len(p), t.n)]) }

func TestFramesCarryMessages(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 4000, 4096, 3 << 20} {
		var sent bytes.Buffer
		want := &strategypb.PlayReply{Steps: []*strategypb.StepReply{{Id: 7, Lost: strings.Repeat("x", size)}}}
		if err := wire.NewFrames(&sent).Send(want); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1 + size/100, 1 << 20} {
			var got strategypb.PlayReply
			if err := wire.NewFrames(trickle{from: bytes.NewReader(sent.Bytes()), n: n}).Receive(&got); err != nil {
				t.Fatalf("%d bytes, %d at a time: %v", size, n, err)
			}
			if !proto.Equal(want, &got) {
				t.Errorf("a message with %d bytes arrived different", size)
			}
		}
	}
}

func TestFramesRefuse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bytes string
		want  error
	}{
		"nothing":          {"", io.EOF},
		"half a length":    {"\x00\x00", io.ErrUnexpectedEOF},
		"half a message":   {"\x00\x00\x00\x04\x18", io.ErrUnexpectedEOF},
		"too long":         {"\xff\x00\x00\x00", wire.ErrProtocol},
		"not a message":    {"\x00\x00\x00\x01\xff", wire.ErrProtocol},
		"two at a time":    {"\x00\x00\x00\x00\x00\x00\x00\x00", wire.ErrProtocol},
		"an empty message": {"\x00\x00\x00\x00", nil},
	} {
		err := wire.NewFrames(bytes.NewBufferString(tc.bytes)).Receive(new(strategypb.PlayReply))
		if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", name, err, tc.want)
		}
	}
}

func TestLanesNeedTheSecret(t *testing.T) {
	t.Parallel()
	right, wrong := wire.NewSecret(), wire.NewSecret()
	for name, tc := range map[string]struct {
		host, plugin []byte
		accepted     bool
	}{
		"both know it":        {right, right, true},
		"the host does not":   {append(wrong[:16:16], right[16:]...), right, false},
		"the plugin does not": {right, append(right[:16:16], wrong[16:]...), false},
		"a short one":         {right[:31], right, false},
	} {
		host, plugin := net.Pipe()
		welcomed := make(chan error, 1)
		go func() {
			welcomed <- wire.Welcome(plugin, tc.plugin)
			plugin.Close()
		}()
		greeted := wire.Greet(host, tc.host)
		host.Close()
		if err := errors.Join(greeted, <-welcomed); (err == nil) != tc.accepted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFrames reads anything at all from a lane.
func FuzzFrames(f *testing.F) {
	for _, m := range []*strategypb.PlayReply{{}, {CpuUs: 3, Steps: []*strategypb.StepReply{{Id: 1, Choices: []byte{0, 1}}}}} {
		var b bytes.Buffer
		if err := wire.NewFrames(&b).Send(m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		frames := wire.NewFrames(trickle{Writer: io.Discard, from: bytes.NewReader(data), n: max(1, n)})
		for {
			var m strategypb.PlayReply
			err := frames.Receive(&m)
			if err == nil {
				err = frames.Send(&m)
			}
			switch {
			case err == nil:
			case err == io.EOF, err == io.ErrUnexpectedEOF, errors.Is(err, wire.ErrProtocol):
				return
			default:
				t.Fatalf("error %v", err)
			}
		}
	})
}

package wire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/strategylab/strategylab/plugins/internal/strategypb"
)

// MostMessage bounds one message between host and plugin, in bytes.
const MostMessage = 16 << 20

const (
	headerSize = 4
	// keptBuffer is the largest buffer that a lane keeps between messages.
	keptBuffer = 1 << 20
)

// Frames sends and receives messages over a lane: each is preceded by its length
// in four bytes, big-endian. The two ends alternate, so a message never begins
// before the one before it was read. Frames is for one goroutine at a time.
type Frames struct {
	rw      io.ReadWriter
	in, out []byte
	hot     hot
}

// NewFrames returns the frames of a connection whose ends have greeted each other.
func NewFrames(rw io.ReadWriter) *Frames {
	return &Frames{rw: rw, in: make([]byte, 4<<10)}
}

// Send writes a message in one call of Write.
func (f *Frames) Send(m proto.Message) error {
	b, err := appendMessage(append(f.out[:0], make([]byte, headerSize)...), m)
	if err != nil {
		return fmt.Errorf("send on lane: %w", err)
	}
	if n := len(b) - headerSize; n > MostMessage {
		return fmt.Errorf("send on lane: message of %d bytes, want at most %d", n, MostMessage)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-headerSize))
	if f.out = b; cap(b) > keptBuffer {
		f.out = nil
	}
	_, err = f.rw.Write(b)
	return err
}

func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	done := false
	start := len(b)
	switch m := m.(type) {
	case *strategypb.PlayRequest:
		b, done = appendRequest(b, m)
	case *strategypb.PlayReply:
		b, done = appendReply(b, m)
	}
	if done {
		return b, nil
	}
	return proto.MarshalOptions{}.MarshalAppend(b[:start], m)
}

// read reads a message into m.
func (f *Frames) read(b []byte, m proto.Message) error {
	done := false
	switch m := m.(type) {
	case *strategypb.PlayRequest:
		done = f.hot.readRequest(b, m)
	case *strategypb.PlayReply:
		done = readReply(b, m)
	}
	if done {
		return nil
	}
	return proto.Unmarshal(b, m)
}

// Receive reads a message into m; a request is valid until the next call. The error
// is io.EOF if the connection ended before it, and wraps ErrProtocol for invalid input.
func (f *Frames) Receive(m proto.Message) error {
	have, want := 0, headerSize
	for have < want {
		if have == len(f.in) { // grow with what arrives, not with what is announced
			f.in = append(f.in, make([]byte, len(f.in))...)
		}
		n, err := f.rw.Read(f.in[have:])
		if have += n; n == 0 && err != nil {
			if err == io.EOF && have > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if want == headerSize && have >= headerSize {
			size := binary.BigEndian.Uint32(f.in)
			if size > MostMessage {
				return broken("message of %d bytes, want at most %d", size, MostMessage)
			}
			want += int(size)
		}
	}
	if have > want {
		return broken("%d bytes after a message, before its answer", have-want)
	}
	if err := f.read(f.in[headerSize:want], m); err != nil {
		return broken("invalid message: %v", err)
	}
	if len(f.in) > keptBuffer {
		f.in = make([]byte, 4<<10)
	}
	return nil
}

// secretSize is the size of the secret of a plugin's lanes, in bytes.
const secretSize = 32

// NewSecret returns a secret that both ends of a lane must know.
func NewSecret() []byte {
	b := make([]byte, secretSize)
	_, _ = rand.Read(b) // never fails
	return b
}

// Greet is the host's first exchange on a lane: it proves that it knows the
// secret, and has the plugin prove it.
func Greet(rw io.ReadWriter, secret []byte) error {
	if len(secret) != secretSize {
		return broken("secret of %d bytes, want %d", len(secret), secretSize)
	}
	if _, err := rw.Write(secret[:secretSize/2]); err != nil {
		return err
	}
	return expect(rw, secret[secretSize/2:])
}

// Welcome is the plugin's side of Greet.
func Welcome(rw io.ReadWriter, secret []byte) error {
	if err := expect(rw, secret[:secretSize/2]); err != nil {
		return err
	}
	_, err := rw.Write(secret[secretSize/2:])
	return err
}

func expect(r io.Reader, want []byte) error {
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(got, want) != 1 {
		return broken("the other end of the lane does not know its secret")
	}
	return nil
}

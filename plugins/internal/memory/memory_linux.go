package memory

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has the memory.
const Supported = true

// The layout of the memory: two halves, each with a state, a length and bytes.
const (
	halfSize = 256 << 10
	lengthAt = 64 // of another cache line than the state
	bytesAt  = 128

	// States of a half.
	empty, full, closed, awaited = 0, 1, 2, 3 // awaited: full, and the sender waits
)

// How long a goroutine that waits keeps its processor. For a wait that ends before its next
// tick, mostly within 4 ms, the kernel sets the timer of the processor and sets it back,
// which costs microseconds in a virtual machine. So the host holds for longer than that, but
// after an answer that took longer than holdSlow, only for holdSlow: others need the
// processor.
const (
	holdHost   = 5 * time.Millisecond
	holdSlow   = 200 * time.Microsecond
	holdPlugin = 20 * time.Millisecond
	// recheck bounds a wait after that, should the other process misuse the state.
	recheck = 100 * time.Millisecond
)

// half is one direction.
type half struct {
	state  *atomic.Uint32
	length *uint32
	bytes  []byte
	skip   int  // waits before it looks again
	skips  int  // what skip was after the last look
	slow   bool // the last answer took longer than holdSlow
}

// pipe is one end of the connection.
type pipe struct {
	memory  []byte
	in, out half
	hold    time.Duration
	rest    []byte // of the message in the half, not read yet

	users  atomic.Int32 // of the memory: calls in progress, and 1 until Close
	closed atomic.Bool
	unmap  sync.Once
}

// Offer makes memory and passes it to the other end of conn, which it closes. One
// goroutine may write and one read at a time; Close ends both from any other.
func Offer(conn *net.UnixConn) (io.ReadWriteCloser, error) {
	defer conn.Close()
	fd, err := unix.MemfdCreate("lane", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 2*halfSize); err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	// Access beyond the end of a file that was cut would kill the process.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, fmt.Errorf("shared memory: seal: %w", err)
	}
	p, err := newPipe(fd)
	if err != nil {
		return nil, err
	}
	p.hold = holdHost
	_, _, err = conn.WriteMsgUnix([]byte{1}, unix.UnixRights(fd), nil)
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory: pass it on: %w", err), p.Close())
	}
	return p, nil
}

// Accept is the other side of Offer. A patient end keeps its processor for longer
// while it waits: the caller has added one for it.
func Accept(conn *net.UnixConn, patient bool) (io.ReadWriteCloser, error) {
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("shared memory: %d control messages, want 1; error %v", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("shared memory: %d file descriptors, want 1; error %v", len(fds), err)
	}
	defer unix.Close(fds[0])
	p, err := newPipe(fds[0])
	if err != nil {
		return nil, err
	}
	p.in, p.out = p.out, p.in
	if patient {
		p.hold = holdPlugin
	}
	if _, err := conn.Write([]byte{1}); err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory: %w", err), p.Close())
	}
	return p, nil
}

func newPipe(fd int) (*pipe, error) {
	m, err := unix.Mmap(fd, 0, 2*halfSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared memory: map: %w", err)
	}
	p := &pipe{memory: m, out: halfOf(m[:halfSize]), in: halfOf(m[halfSize:])}
	p.users.Store(1)
	return p, nil
}

func halfOf(m []byte) half {
	return half{
		state:  (*atomic.Uint32)(unsafe.Pointer(&m[0])),
		length: (*uint32)(unsafe.Pointer(&m[lengthAt])),
		bytes:  m[bytesAt:],
	}
}

// use keeps the memory mapped until done. It returns false after Close.
func (p *pipe) use() bool {
	p.users.Add(1)
	if p.closed.Load() {
		p.done()
		return false
	}
	return true
}

func (p *pipe) done() {
	if p.users.Add(-1) == 0 {
		p.unmap.Do(func() { _ = unix.Munmap(p.memory) })
	}
}

// Write sends b as one message, in parts if it is longer than the memory.
func (p *pipe) Write(b []byte) (int, error) {
	if !p.use() {
		return 0, io.ErrClosedPipe
	}
	defer p.done()
	sent := 0
	for sent < len(b) {
		p.out.state.CompareAndSwap(full, awaited)
		if !p.await(&p.out, empty, empty) {
			return sent, io.ErrClosedPipe
		}
		n := copy(p.out.bytes, b[sent:])
		*p.out.length = uint32(n)
		sent += n
		if p.out.state.CompareAndSwap(empty, full) {
			wake(p.out.state)
		}
	}
	return sent, nil
}

// Read reads from the message that is there, or waits for the next.
func (p *pipe) Read(b []byte) (int, error) {
	if !p.use() {
		return 0, io.EOF
	}
	defer p.done()
	if len(p.rest) == 0 {
		if !p.await(&p.in, full, awaited) {
			return 0, io.EOF
		}
		p.rest = p.in.bytes[:min(int(*p.in.length), len(p.in.bytes))]
	}
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; len(p.rest) == 0 {
		if !p.in.state.CompareAndSwap(full, empty) && p.in.state.CompareAndSwap(awaited, empty) {
			wake(p.in.state)
		}
	}
	return n, nil
}

// Close ends Read and Write at both ends.
func (p *pipe) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	for _, h := range []*half{&p.in, &p.out} {
		h.state.Store(closed)
		wake(h.state)
	}
	p.done()
	return nil
}

// await waits for one of two states. It returns false if the connection is closed.
func (p *pipe) await(h *half, want, also uint32) bool {
	if h.look(want, also) {
		return !p.closed.Load()
	}
	held := p.hold == 0
	for {
		switch now := h.state.Load(); {
		case p.closed.Load():
			return false
		case now == want, now == also:
			return true
		case now == closed:
			return false
		case held:
			p.sleep(h.state, now)
		default:
			held = p.keep(h, now)
		}
	}
}

// looks is how often a goroutine looks at a state before it sleeps: some 50 us, as much
// as the two wakes cost that it saves. It pays where the other process runs on a
// processor of its own. Where it did not, the next leastSkips waits go without, and twice
// as many each time, up to mostSkips.
const (
	looks      = 100_000
	leastSkips = 100
	mostSkips  = 100 * leastSkips
)

func (h *half) look(want, also uint32) bool {
	if h.skip > 0 {
		h.skip--
		return false
	}
	for range looks {
		if now := h.state.Load(); now == want || now == also {
			h.skips = 0
			return true
		}
	}
	h.skips = min(max(2*h.skips, leastSkips), mostSkips)
	h.skip = h.skips
	return false
}

// keep waits for a change of the state, unknown to Go's scheduler. It returns true
// after the time for that, or if the scheduler wants the processor back and sends
// a signal.
func (p *pipe) keep(h *half, now uint32) bool {
	hold := p.hold
	if hold == holdHost && h.slow {
		hold = holdSlow
	}
	t := unix.NsecToTimespec(hold.Nanoseconds())
	began := time.Now()
	_, _, err := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(h.state)), futexWait, uintptr(now), uintptr(unsafe.Pointer(&t)), 0, 0)
	h.slow = time.Since(began) > holdSlow
	return err == unix.ETIMEDOUT || err == unix.EINTR
}

// sleep waits like any other system call.
func (p *pipe) sleep(state *atomic.Uint32, now uint32) {
	t := unix.NsecToTimespec(recheck.Nanoseconds())
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWait, uintptr(now), uintptr(unsafe.Pointer(&t)), 0, 0)
}

func wake(state *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWake, 1, 0, 0, 0)
}

// Operations of futex.
const (
	futexWait = 0
	futexWake = 1
)

package memory

import (
	"io"
	"sync"
	"sync/atomic"
	"testing"
)

// pipes returns both ends of a connection.
func pipes(t *testing.T) (host, plugin *pipe) {
	t.Helper()
	one, other := pair(t)
	return one.(*pipe), other.(*pipe)
}

// A length beyond the memory ends at its end.
func TestLengthBeyondMemory(t *testing.T) {
	t.Parallel()
	host, plugin := pipes(t)
	*plugin.out.length = 1<<32 - 1
	plugin.out.state.Store(full)
	wake(plugin.out.state)
	b := make([]byte, 2*halfSize)
	if n, err := host.Read(b); n != halfSize-bytesAt || err != nil {
		t.Errorf("read %d bytes, error %v; want the %d of the memory", n, err, halfSize-bytesAt)
	}
}

// A state that does not exist is no message and no end.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	host, plugin := pipes(t)
	plugin.out.state.Store(99)
	var work sync.WaitGroup
	defer work.Wait()
	began := make(chan struct{})
	work.Go(func() {
		close(began)
		b := make([]byte, 2)
		if n, err := host.Read(b); n != 1 || b[0] != 7 || err != nil {
			t.Errorf("read %d bytes, %v, error %v; want the byte 7", n, b, err)
		}
		if n, err := host.Read(b); n != 0 || err != io.EOF {
			t.Errorf("read %d bytes, error %v; want the end", n, err)
		}
	})
	<-began
	for _, state := range []uint32{100, 99, 100} {
		plugin.out.state.Store(state)
		wake(plugin.out.state)
	}
	plugin.out.bytes[0], *plugin.out.length = 7, 1
	plugin.out.state.Store(full)
	wake(plugin.out.state)
	for plugin.out.state.Load() != empty { // until it is read
		plugin.keep(&plugin.out, full)
	}
	plugin.out.state.Store(closed)
	wake(plugin.out.state)
}

// Where looking for an answer never helps, it is tried less and less, and where it helps
// always.
func TestLooksLessAndLess(t *testing.T) {
	t.Parallel()
	h := half{state: new(atomic.Uint32)}
	for _, want := range []int{100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000} {
		if h.look(full, full) || h.skip != want {
			t.Fatalf("after a look in vain, %d waits go without; want %d", h.skip, want)
		}
		h.state.Store(full)
		for range want {
			if h.look(full, full) {
				t.Fatal("it looked although it was to wait")
			}
		}
		h.state.Store(empty)
	}
	h.state.Store(full)
	h.skip = 0
	for range 10 {
		if !h.look(full, full) {
			t.Fatal("it did not see what is there")
		}
	}
	if h.state.Store(empty); h.look(full, full) || h.skip != leastSkips {
		t.Errorf("after a look that helped, one in vain has %d waits go without; want %d", h.skip, leastSkips)
	}
}

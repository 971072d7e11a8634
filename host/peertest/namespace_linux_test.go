package peertest

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// isolated returns a network of its own for one league, with a loopback whose
// ports are all free; false where the system does not let this process have one.
func isolated(t testing.TB) (*network, bool) {
	t.Helper()
	n := &network{work: make(chan func()), gone: make(chan struct{})}
	ready := make(chan error)
	go func() {
		// The thread has left the network of the process, and ends with this
		// goroutine since it stays locked.
		runtime.LockOSThread()
		err := enter()
		ready <- err
		if err != nil {
			return
		}
		for {
			select {
			case f := <-n.work:
				f()
			case <-n.gone:
				return
			}
		}
	}()
	if <-ready != nil {
		return nil, false
	}
	t.Cleanup(func() { close(n.gone) })
	return n, true
}

// enter moves the thread to a new network and sets its loopback up.
func enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

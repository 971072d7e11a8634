package peertest

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// asRoot marks the process that runs the tests as root of a user namespace.
const asRoot = "PEERTEST_USER_NAMESPACE"

// inUserNamespace runs this test binary once more where an ordinary user may make networks,
// and returns its exit code; false where this process may make them, or cannot gain it.
func inUserNamespace() (code int, ran bool) {
	if os.Getuid() == 0 || os.Getenv(asRoot) != "" {
		return 0, false
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), asRoot+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	runtime.LockOSThread() // the child ends with the thread that started it
	if cmd.Start() != nil {
		return 0, false
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), true
}

// isolated returns a network of its own for one league, with a loopback whose
// ports are all free. The error says why the system does not let this process have one.
func isolated() (*network, error) {
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
	return n, <-ready
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

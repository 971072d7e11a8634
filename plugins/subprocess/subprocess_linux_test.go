package subprocess_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins/subprocess"
)

const (
	limit = 64 << 20
	much  = 512 << 20
)

// roles are what the test binary does as a process.
var roles = map[string]func() error{
	"wait": func() error {
		fmt.Println("waiting")
		select {}
	},
	// parent starts a process, prints its id and waits for the end of the input.
	"parent": func() error {
		child, err := started("wait")
		if err != nil {
			return err
		}
		fmt.Println(child.Process.Pid)
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	},
	"allocate": func() error {
		fmt.Println(filled(much))
		return nil
	},
	"unlimited": func() error {
		if err := new(subprocess.MemoryLimit).Reset(0); err != nil {
			return err
		}
		fmt.Println(filled(much))
		return nil
	},
	// limited limits itself and starts a process, which has no limit.
	"limited": func() error {
		if err := new(subprocess.MemoryLimit).Reset(limit); err != nil {
			return err
		}
		child := exec.Command(os.Args[0], "allocate")
		if err := subprocess.Start(child); err != nil {
			return err
		}
		fmt.Println(child.Wait())
		// Its own limit is as it was.
		fmt.Println(filled(much))
		return nil
	},
}

// TestMain lets the test binary be a process of one of the roles.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// filled takes memory, in bytes, and returns how much it was.
func filled(size int) int {
	block := make([]byte, size)
	for i := 0; i < size; i += os.Getpagesize() {
		block[i] = 1
	}
	return len(block)
}

// started starts a process of a role that says that it waits.
func started(role string) (*exec.Cmd, error) {
	cmd := exec.Command(os.Args[0], role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := subprocess.Start(cmd); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "waiting\n" {
		return nil, fmt.Errorf("the process says %q: %w", line, err)
	}
	return cmd, nil
}

// parent starts a process that has started another, whose id it returns.
func parent(t *testing.T) (cmd *exec.Cmd, stop io.Closer, child int) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "parent")
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := subprocess.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { subprocess.Kill(cmd) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return cmd, stop, child
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for subprocess.Identify(pid) != "" { // nobody may have waited for it
		select {
		case <-t.Context().Done():
			t.Fatalf("process %d lives", pid)
		case <-time.After(time.Millisecond):
		}
	}
}

// A process does not outlive the one that has started it, however that ends: else the
// workers of a run that is killed would stay.
func TestProcessEndsWithItsParent(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"the end of main": func(_ *exec.Cmd, stop io.Closer) error { return stop.Close() },
		"a kill":          func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, stop, child := parent(t)
			if err := syscall.Kill(child, 0); err != nil {
				t.Fatalf("the child does not live: %v", err)
			}
			if err := end(cmd, stop); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			gone(t, child)
		})
	}
}

// A signal of the terminal goes to its group, in which no started process is.
func TestProcessIsInAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	cmd, err := started("wait")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		subprocess.Kill(cmd)
		_ = cmd.Wait()
		subprocess.Kill(cmd) // once more does no harm
	}()
	group, err := syscall.Getpgid(cmd.Process.Pid)
	if err != nil || group != cmd.Process.Pid {
		t.Errorf("the group of process %d is %d, %v", cmd.Process.Pid, group, err)
	}
}

// With a limit the kernel refuses memory, and the process ends. A process that is started
// does not inherit the limit.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	run := func(role string) (stdout string, err error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], role)
		out, err := cmd.Output()
		return string(out), err
	}
	full := fmt.Sprintln(much)
	if err := subprocess.Start(exec.Command("./no-such-program")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
	if out, err := run("unlimited"); err != nil || out != full {
		t.Errorf("without a limit: %q, %v", out, err)
	}
	var exit *exec.ExitError
	if out, err := run("limited"); out != "<nil>\n" || !errors.As(err, &exit) {
		t.Errorf("a process that it starts: %q; then %v, want an end for lack of memory", out, err)
	}
}

// What a run may take counts the processes below it, and theirs.
func TestResident(t *testing.T) {
	t.Parallel()
	cmd, stop, child := parent(t)
	defer stop.Close()
	memory, processes := subprocess.Resident()
	if processes < 3 { // other tests may have started more
		t.Errorf("%d processes, want this one, %d and %d at least", processes, cmd.Process.Pid, child)
	}
	if memory < 1<<20 || memory > 1<<40 {
		t.Errorf("%d bytes", memory)
	}
}

// The kernel marks what it backs by large pages; see proc(5).
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages on request")
	}
	subprocess.LargePages(limit)
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	most, size := 0, 0
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); fields[0] == "Size:" {
			size, err = strconv.Atoi(fields[1])
		} else if fields[0] == "VmFlags:" && slices.Contains(fields, "hg") {
			most = max(most, size)
		}
	}
	if err != nil || most < limit>>10 {
		t.Errorf("large pages back at most %d KiB in a row, want %d: %v", most, limit>>10, err)
	}
}

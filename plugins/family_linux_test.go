package plugins_test

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins"
)

// setSession has a command start in a session of its own, or not.
func setSession(cmd *exec.Cmd, own bool) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: own} }

// TestDescendants looks for the children of a plugin after its host was killed, and after it
// was closed.
func TestDescendants(t *testing.T) {
	t.Parallel()
	killed := t.TempDir()
	cmd := exec.Command(os.Args[0], "host", killed, "family")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says := bufio.NewReader(stderr)
	for _, want := range []string{"begins\n", "has opened\n"} {
		if line, err := says.ReadString('\n'); err != nil || line != want {
			t.Errorf("the host says %q, %v", line, err)
		}
	}
	for processes(t, killed) < 3 { // the host, a plugin and its children, between two rounds of the host
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	wantNobody(t, killed)

	closed := t.TempDir()
	all, err := plugins.Open(t.Context(), plugins.Config{Command: []string{os.Args[0], "misbehave", "family", closed}})
	if err != nil {
		t.Fatal(err)
	}
	if n := processes(t, closed); n < 3 {
		t.Errorf("%d processes, want the plugin and two children", n)
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	wantNobody(t, closed)
}

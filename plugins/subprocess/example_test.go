package subprocess_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/strategylab/strategylab/plugins/subprocess"
)

// TestMain lets the test binary be the process, which lives until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "wait" {
		fmt.Println("waiting")
		select {}
	}
	os.Exit(m.Run())
}

func Example() {
	cmd := exec.Command(os.Args[0], "wait")
	if err := subprocess.Start(cmd, subprocess.Config{}); err != nil {
		fmt.Println(err)
		return
	}
	subprocess.Kill(cmd)
	fmt.Println(cmd.Wait())
	// Output: signal: killed
}

package subprocess_test

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/strategylab/strategylab/plugins/subprocess"
)

func Example() {
	cmd := exec.Command(os.Args[0], "wait")
	if err := subprocess.Start(cmd); err != nil {
		fmt.Println(err)
		return
	}
	subprocess.Kill(cmd)
	fmt.Println(cmd.Wait())
	// Output: signal: killed
}

package plugins_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// host is what the test binary does as "host MARK HOW": it says that it begins and that it
// has opened plugins, and plays experiments with two of them until it is killed.
func host(mark, how string) {
	fmt.Fprintln(os.Stderr, "begins")
	opens := sync.OnceFunc(func() { fmt.Fprintln(os.Stderr, "has opened") })
	for {
		var all []strategies.Factory
		for range 2 {
			c := plugins.Config{Command: []string{os.Args[0], "misbehave", how, mark}}
			opened, err := plugins.Open(context.Background(), c)
			if err != nil {
				panic(err)
			}
			all = append(all, opened...)
		}
		opens()
		p := plan(50, 4, all)
		a, err := arena.New(p, all, arena.Config{})
		if err != nil {
			panic(err)
		}
		if _, err := experiments.Run(context.Background(), p, a, nobody{}, experiments.Config{}); err != nil {
			panic(err)
		}
		for _, f := range all {
			_ = f.Close()
		}
	}
}

// TestKilledHost kills hosts at random moments and looks for what they leave
// behind. STRATEGYLAB_KILLS says how many; 100 are meant for a quiet machine.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("STRATEGYLAB_KILLS")); err == nil {
		kills = n
	}
	mark := t.TempDir()
	folders, err := os.MkdirTemp("", "kills") // a short path, since sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folders)
	rnd := rand.New(rand.NewPCG(1, 2))
	var moments []time.Duration
	for range kills {
		moments = append(moments, time.Duration(rnd.Int64N(int64(300*time.Millisecond))))
	}
	for i, after := range moments {
		cmd := exec.Command(os.Args[0], "host", mark, "nothing")
		cmd.Env = append(os.Environ(), "TMPDIR="+folders)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wants := []string{"begins\n"}
		if i == len(moments)-1 {
			wants = append(wants, "has opened\n") // and so has removed what the others left
		}
		for says := bufio.NewReader(stderr); len(wants) > 0; wants = wants[1:] {
			if line, err := says.ReadString('\n'); err != nil || line != wants[0] {
				t.Errorf("the host says %q, %v", line, err)
			}
		}
		<-time.After(after)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	wantNobody(t, mark)
	// Of all hosts but the last, the folders are gone.
	left, err := filepath.Glob(filepath.Join(folders, "strategylab-*"))
	if err != nil {
		t.Fatal(err)
	}
	hosts := make(map[string]bool)
	for _, folder := range left {
		hosts[strings.Split(filepath.Base(folder), "-")[1]] = true
	}
	if len(hosts) > 1 {
		t.Errorf("folders of killed hosts are left, by their ids: %q; want those of the last alone", slices.Sorted(maps.Keys(hosts)))
	}
}

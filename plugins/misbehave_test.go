package plugins_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// misbehave is a plugin that does args[0]. args[1] is a mark by which its
// process can be found.
func misbehave(args []string) {
	switch args[0] {
	case "quit":
		fmt.Fprintln(os.Stderr, "error: no licence")
		os.Exit(3)
	case "junk":
		fmt.Println("hello, world")
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "silence":
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "tomorrow":
		fmt.Println("1|99|unix|/nowhere|grpc|")
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "family": // it has a child in its group and one of its own session
		for _, apart := range []bool{false, true} {
			child := exec.Command("/bin/sh", "-c", "sleep 3600; :", args[len(args)-1])
			setSession(child, apart)
			if err := child.Start(); err != nil {
				panic(err)
			}
		}
	case "noisy start":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 100))
		}
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20))
	}
	plugins.Serve(&rogue{how: args[0], mark: args[len(args)-1]})
}

// rogue plays even until its tenth choice in this process, and then does
// something else.
type rogue struct {
	how, mark string
	asked     atomic.Int64
}

func (r *rogue) Info() strategies.Info { return strategies.Info{Name: "rogue", Fingerprint: "1"} }
func (r *rogue) Close() error          { return nil }

func (r *rogue) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	if r.how == "dead on arrival" {
		os.Exit(4)
	}
	return &rogueSeat{r}, nil
}

type rogueSeat struct{ *rogue }

func (s *rogueSeat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (s *rogueSeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	if s.asked.Add(1) < 10 {
		return strategies.Even, nil
	}
	switch s.how {
	case "exit":
		os.Exit(3)
	case "panic elsewhere":
		go func() { panic("oh no") }()
		select {}
	case "hang":
		select {}
	case "late":
		time.Sleep(time.Hour)
	case "tardy":
		time.Sleep(100 * time.Millisecond)
	case "nonsense":
		return strategies.Choice(math.NaN()), nil
	case "panic":
		panic("oh no")
	case "flood":
		for range 500 {
			fmt.Fprintln(os.Stderr, "flood")
		}
	case "leave a child":
		child := exec.Command(os.Args[0], "misbehave", "silence", s.mark)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		os.Exit(3)
	}
	return strategies.Even, nil
}

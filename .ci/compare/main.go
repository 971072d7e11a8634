// Command compare measures this checkout against another commit, in one run on one
// machine, and prints ratios:
//
//	go run ./.ci/compare -base COMMIT          the build, the binary and the start of processes
//	go run ./.ci/compare -base COMMIT -tests   go test ./... too, with an empty build cache and with a full one
//
// Times are processor times of user and system with all child processes, so that other
// work on the machine disturbs them less; modules must be there already.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	base := flag.String("base", "", "commit to compare with")
	tests := flag.Bool("tests", false, "run all tests of both, twice: many minutes")
	runs := flag.Int("starts", 40, "processes to start for each figure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *base, *tests, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// side is one of the two checkouts, with a folder for what it makes.
type side struct{ tree, out string }

// figure is one row: what was measured of the base and of this checkout.
type figure struct {
	name, unit string
	was, is    float64
}

func run(ctx context.Context, base string, tests bool, starts int) (err error) {
	if base == "" {
		return errors.New("-base is missing: name a commit")
	}
	temp, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	tree := filepath.Join(temp, "base")
	if out, err := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", tree, base).CombinedOutput(); err != nil {
		return fmt.Errorf("check out %s: %w: %s", base, err, out)
	}
	defer func() {
		err = errors.Join(err, exec.Command("git", "worktree", "remove", "--force", tree).Run())
	}()
	was, is := side{tree, filepath.Join(temp, "was")}, side{".", filepath.Join(temp, "is")}
	var rows []figure
	both := func(name, unit string, measure func(side) (float64, error)) error {
		before, err := measure(was)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", name, base, err)
		}
		after, err := measure(is)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, figure{name, unit, before, after})
		fmt.Fprintf(os.Stderr, "%s: %.1f and %.1f %s\n", name, before, after, unit)
		return nil
	}
	steps := []error{
		both("build, empty cache", "s", func(s side) (float64, error) { return s.command(ctx, "build", "-o", s.out, "./cmd/strategylab") }),
		both("binary", "MB", side.size),
		both("binary, -s -w", "MB", func(s side) (float64, error) {
			stripped := side{s.tree, s.out + "-stripped"}
			_, err := s.command(ctx, "build", "-ldflags=-s -w", "-o", stripped.out, "./cmd/strategylab")
			size, missing := stripped.size()
			return size, cmp.Or(err, missing)
		}),
	}
	for _, args := range [][]string{{"--version"}, {"script-worker"}, {"plugin-serve"}} {
		steps = append(steps,
			both("start "+args[0], "ms", func(s side) (float64, error) { t, _, err := s.start(ctx, starts, args); return t, err }),
			both("memory "+args[0], "MB", func(s side) (float64, error) { _, m, err := s.start(ctx, starts, args); return m, err }))
	}
	if tests {
		steps = append(steps,
			both("go test ./..., empty cache", "s", func(s side) (float64, error) { return s.command(ctx, "test", "./...") }),
			both("go test -count=1 ./...", "s", func(s side) (float64, error) { return s.warm(ctx) }))
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\tnow\tratio\t\n", base)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.1f %s\t%.1f %s\t%.2f\t\n", r.name, r.was, r.unit, r.is, r.unit, r.is/r.was)
	}
	return errors.Join(append(steps, w.Flush())...)
}

// command runs the go command with an empty build cache and returns its processor time
// in seconds.
func (s side) command(ctx context.Context, args ...string) (float64, error) {
	cache, err := os.MkdirTemp("", "compare-cache-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(cache)
	return s.time(ctx, cache, args...)
}

// warm returns the processor time of the tests when everything is built.
func (s side) warm(ctx context.Context) (float64, error) {
	cache, err := os.MkdirTemp("", "compare-cache-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(cache)
	if _, err := s.time(ctx, cache, "test", "-count=1", "-run", "^$", "./..."); err != nil {
		return 0, err
	}
	return s.time(ctx, cache, "test", "-count=1", "./...")
}

func (s side) time(ctx context.Context, cache string, args ...string) (float64, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env = s.tree, append(os.Environ(), "GOCACHE="+cache)
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}

func (s side) size() (float64, error) {
	info, err := os.Stat(s.out)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

// start starts the program over and over and returns the mean processor time in
// milliseconds and the median of the largest resident memory in megabytes. What these
// command lines do without their parent takes no time: they end at once.
func (s side) start(ctx context.Context, n int, args []string) (ms, megabytes float64, err error) {
	var total time.Duration
	var memory []int64
	for range n {
		c := exec.CommandContext(ctx, s.out, args...)
		if err := c.Run(); c.ProcessState == nil {
			return 0, 0, err
		}
		total += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return 0, 0, errors.ErrUnsupported
		}
		memory = append(memory, usage.Maxrss)
	}
	slices.Sort(memory)
	return float64(total.Microseconds()) / 1e3 / float64(n), float64(memory[n/2]) / 1e3, nil
}

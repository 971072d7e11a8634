package subprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Pipe has a program make of what write writes what goes to out. The error of a program that
// fails ends with what it printed to stderr.
func Pipe(ctx context.Context, program string, out io.Writer, write func(io.Writer) error) error {
	cmd := exec.CommandContext(ctx, program)
	var problem strings.Builder
	cmd.Stdout, cmd.Stderr = out, &problem
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := Start(cmd); err != nil {
		return err
	}
	err = write(in)
	_ = in.Close()
	ended := cmd.Wait()
	var broken *os.PathError // the program has ended, and says why
	if ended != nil && (err == nil || errors.As(err, &broken) && broken.Op == "write") {
		err = fmt.Errorf("%w: %s", ended, cmp.Or(strings.TrimSpace(problem.String()), program))
	}
	return cmp.Or(ctx.Err(), err)
}

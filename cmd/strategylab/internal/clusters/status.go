package clusters

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// status asks everybody on a broker what they do.
func status(p *command.Process, c *cli.Context, o *statusOptions) error {
	l, err := o.connect(p, c)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := l.Survey(c.Context, o.Wait)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, s)
	}
	return s.WriteText(p.Stdout, p.Now())
}

// remove removes a run from a broker that no experiment plays.
func remove(p *command.Process, c *cli.Context, o *survey) error {
	l, err := o.connect(p, c)
	if err != nil {
		return err
	}
	defer l.Close()
	run := c.Args().First()
	if err := l.Unplayed(c.Context, run, o.Wait); err != nil {
		return fmt.Errorf("remove %w", err)
	}
	if err := l.Remove(c.Context, run); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	p.Say("run %s is removed", run)
	return nil
}

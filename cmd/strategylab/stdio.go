package main

import (
	"io"

	"github.com/urfave/cli/v2"
)

const flagStdio = "stdio"

func stdioFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagStdio, Usage: "also take messages on stdin, one JSON document a line, and answer on stdout; events go to stderr"}
}

// stdio returns the streams on which an agent is to be served, nil without
// --stdio. Nothing else may then be written to stdout.
func (l *live) stdio(c *cli.Context) (io.Reader, io.Writer) {
	if !c.Bool(flagStdio) {
		return nil, nil
	}
	l.out.w = l.p.stderr
	return l.p.stdin, l.p.stdout
}

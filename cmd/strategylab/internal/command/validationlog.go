package command

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/wire/eventlog"
)

const (
	FlagValidationLog     = "validation-log"
	FlagValidationLogSize = "validation-log-size"
	FlagValidationLogSeed = "validation-log-seed"
)

func ValidationLogFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagValidationLog, Value: "auto", Usage: "on, off or auto: keep a log of what became of every request, below --data-dir (auto: where there is one)"}
}

func ValidationLogSizeFlag() cli.Flag {
	return &cli.IntFlag{Name: FlagValidationLogSize, Value: validationLogFiles * eventlog.DefaultMaxFile >> 20, Usage: "MiB that the files of this log may take together; the oldest go first"}
}

func ValidationLogSeedFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagValidationLogSeed, Usage: "make this log reproducible, for tests: ids from the seed, a clock that stands still, one request at a time"}
}

// validationLogFiles is how many files the log is kept in.
const validationLogFiles = eventlog.DefaultMaxFiles

// EndLog ends a log, if there is one.
func EndLog(l *eventlog.Log) {
	if l != nil {
		l.Close()
	}
}

// OpenValidationLog opens the log below a data directory as the flags ask for
// it, and returns nil where they ask for none. One that cannot be opened ends
// the command only if it was asked for.
func OpenValidationLog(p *Process, c *cli.Context, cfg eventlog.Config) (*eventlog.Log, error) {
	wanted, err := OneOf(c, FlagValidationLog, "auto", "on", "off")
	if err != nil {
		return nil, err
	}
	size, err := AtLeast(c, FlagValidationLogSize, 1)
	if err != nil {
		return nil, err
	}
	cfg.Seed, cfg.Now = c.String(FlagValidationLogSeed), p.Now
	cfg.MaxFile, cfg.MaxFiles = int64(size)<<20/validationLogFiles, validationLogFiles
	asked := wanted == "on" || cfg.Seed != ""
	switch {
	case wanted == "off":
		return nil, nil
	case cfg.Data == "" && asked:
		return nil, Usagef("the validation log lies below --%s, which is not given", FlagData)
	case cfg.Data == "":
		return nil, nil
	}
	cfg.Lazy = cfg.Lazy && !asked
	l, err := eventlog.Open(cfg)
	switch {
	case err == nil:
		return l, nil
	case asked:
		return nil, Usagef("--%s: %w", FlagValidationLog, err)
	}
	p.Warn("%v; going on without", err)
	return nil, nil
}

package command

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// Flags of the validation log.
const (
	FlagValidationLog     = "validation-log"
	FlagValidationLogSize = "validation-log-size"
	FlagValidationLogSeed = "validation-log-seed"
)

// ValidationLogFlags say whether and how the validation log is written.
// [OpenValidationLog] reads them. reproducible adds the flag that tests need.
func ValidationLogFlags(reproducible bool) []cli.Flag {
	flags := []cli.Flag{
		Choice(FlagValidationLog, "auto", "log the outcome of every request", "auto", "on", "off"),
		&cli.IntFlag{
			Name: FlagValidationLogSize, Value: validationLogFiles * eventlog.DefaultMaxFile >> 20, Usage: "size limit of the validation log in MiB",
			Action: AtLeast(FlagValidationLogSize, 1),
		},
	}
	if reproducible {
		flags = append(flags, &cli.StringFlag{Name: FlagValidationLogSeed, Usage: "make the validation log reproducible, for tests"})
	}
	return flags
}

// validationLogFiles is the number of files that the log rotates through.
const validationLogFiles = eventlog.DefaultMaxFiles

// EndLog ends a log, if there is one.
func EndLog(l *eventlog.Log) {
	if l != nil {
		l.Close()
	}
}

// OpenValidationLog opens the validation log below a data folder as the flags
// say; nil for none. Failing to open it is an error only if the flags ask for a
// log explicitly.
func OpenValidationLog(p *Process, c *cli.Context, cfg eventlog.Config) (*eventlog.Log, error) {
	wanted := c.String(FlagValidationLog)
	cfg.Seed, cfg.Now = c.String(FlagValidationLogSeed), p.Now
	cfg.MaxFile, cfg.MaxFiles = int64(c.Int(FlagValidationLogSize))<<20/validationLogFiles, validationLogFiles
	asked := wanted == "on" || cfg.Seed != ""
	switch {
	case wanted == "off":
		return nil, nil
	case cfg.Data == "" && asked:
		return nil, Usagef("--%s: the validation log needs a folder; name one with --%s", FlagValidationLog, FlagData)
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
	p.Warn("%v; continuing without a validation log", err)
	return nil, nil
}

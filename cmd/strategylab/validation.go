package main

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

const (
	flagEnvelope          = "envelope"
	flagValidationLog     = "validation-log"
	flagValidationLogSize = "validation-log-size"
	flagValidationLogSeed = "validation-log-seed"
)

func envelopeFlag() cli.Flag {
	return &cli.StringFlag{Name: flagEnvelope, Value: "league", Usage: "league or strict: strict wants of every request a string as id, a method, and an object as params"}
}

func validationLogFlag() cli.Flag {
	return &cli.StringFlag{Name: flagValidationLog, Value: "auto", Usage: "on, off or auto: keep a log of what became of every request, below --data-dir (auto: where there is one)"}
}

func validationLogSizeFlag() cli.Flag {
	return &cli.IntFlag{Name: flagValidationLogSize, Value: validationLogFiles * eventlog.DefaultMaxFile >> 20, Usage: "MiB that the files of this log may take together; the oldest go first"}
}

func validationLogSeedFlag() cli.Flag {
	return &cli.StringFlag{Name: flagValidationLogSeed, Usage: "make this log reproducible, for tests: ids from the seed, a clock that stands still, one request at a time"}
}

// validationLogFiles is how many files the log is kept in.
const validationLogFiles = eventlog.DefaultMaxFiles

// validated is how a live command validates requests.
type validated struct{ host.Validation }

// end ends the log, if there is one.
func (v validated) end() { endLog(v.Log) }

// endLog ends a log, if there is one.
func endLog(l *eventlog.Log) {
	if l != nil {
		l.Close()
	}
}

// validation reads from the flags how requests are validated, and opens the
// log.
func (l *live) validation(c *cli.Context) (validated, error) {
	v := validated{host.Validation{Errors: l.log}}
	envelope, err := oneOf(c, flagEnvelope, "league", "strict")
	if err != nil {
		return v, err
	}
	v.Strict = envelope == "strict"
	if v.Log, err = openValidationLog(l.p, c, eventlog.Config{Data: l.data, Log: l.log}); err != nil {
		return v, err
	}
	v.Deterministic = v.Log != nil && c.String(flagValidationLogSeed) != ""
	return v, nil
}

// openValidationLog opens the log below a data directory as the flags ask for
// it, and returns nil where they ask for none. One that cannot be opened ends
// the command only if it was asked for.
func openValidationLog(p *process, c *cli.Context, cfg eventlog.Config) (*eventlog.Log, error) {
	wanted, err := oneOf(c, flagValidationLog, "auto", "on", "off")
	if err != nil {
		return nil, err
	}
	size, err := atLeast(c, flagValidationLogSize, 1)
	if err != nil {
		return nil, err
	}
	cfg.Seed, cfg.Now = c.String(flagValidationLogSeed), p.now
	cfg.MaxFile, cfg.MaxFiles = int64(size)<<20/validationLogFiles, validationLogFiles
	asked := wanted == "on" || cfg.Seed != ""
	switch {
	case wanted == "off":
		return nil, nil
	case cfg.Data == "" && asked:
		return nil, usagef("the validation log lies below --%s, which is not given", flagData)
	case cfg.Data == "":
		return nil, nil
	}
	cfg.Lazy = cfg.Lazy && !asked
	l, err := eventlog.Open(cfg)
	switch {
	case err == nil:
		return l, nil
	case asked:
		return nil, usagef("--%s: %w", flagValidationLog, err)
	}
	p.warn("%v; going on without", err)
	return nil, nil
}

package main

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/validation/eventlog"
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
func (v validated) end() {
	if v.Log != nil {
		v.Log.Close()
	}
}

// validation reads from the flags how requests are validated, and opens the
// log. One that cannot be opened ends the command only if it was asked for.
func (l *live) validation(c *cli.Context) (validated, error) {
	v := validated{host.Validation{Errors: l.log}}
	envelope, err := oneOf(c, flagEnvelope, "league", "strict")
	if err != nil {
		return v, err
	}
	v.Strict = envelope == "strict"
	wanted, err := oneOf(c, flagValidationLog, "auto", "on", "off")
	if err != nil {
		return v, err
	}
	size, err := atLeast(c, flagValidationLogSize, 1)
	if err != nil {
		return v, err
	}
	seed := c.String(flagValidationLogSeed)
	switch {
	case l.data == "" && (wanted == "on" || seed != "" && wanted != "off"):
		return v, usagef("the validation log lies below --%s, which is not given", flagData)
	case l.data == "" || wanted == "off":
		return v, nil
	}
	log, err := eventlog.Open(eventlog.Config{
		Data: l.data, Seed: seed, MaxFile: int64(size) << 20 / validationLogFiles, MaxFiles: validationLogFiles, Now: l.p.now, Log: l.log,
	})
	if err != nil && wanted == "auto" && seed == "" {
		l.p.warn("%v; going on without", err)
		return v, nil
	}
	if err != nil {
		return v, usagef("--%s: %w", flagValidationLog, err)
	}
	v.Log, v.Deterministic = log, seed != ""
	return v, nil
}

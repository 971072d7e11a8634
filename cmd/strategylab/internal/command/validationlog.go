package command

import (
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// ValidationLog says whether and how the validation log is written.
type ValidationLog struct {
	Mode string `flag:"validation-log auto|on|off" want:"one" usage:"log the outcome of every request"`
	Size int    `flag:"validation-log-size" default:"64" want:"1.." usage:"size limit of the validation log in MiB"`
}

// Open opens the validation log below a data folder as the flags say; nil for none.
// Failing to open it is an error only if the flags, or a seed, ask for a log explicitly.
func (v *ValidationLog) Open(p *Process, cfg eventlog.Config) (*eventlog.Log, error) {
	cfg.Now, cfg.MaxFile, cfg.MaxFiles = p.Now, int64(v.Size)<<20/eventlog.DefaultMaxFiles, eventlog.DefaultMaxFiles
	asked := v.Mode == "on" || cfg.Seed != ""
	switch {
	case v.Mode == "off":
		return nil, nil
	case cfg.Data == "" && asked:
		return nil, Usagef("--validation-log: the validation log needs a folder; name one with --data-dir")
	case cfg.Data == "":
		return nil, nil
	}
	cfg.Lazy = cfg.Lazy && !asked
	l, err := eventlog.Open(cfg)
	switch {
	case err == nil:
		return l, nil
	case asked:
		return nil, Usagef("--validation-log: %w", err)
	}
	p.Warn("%v; continuing without a validation log", err)
	return nil, nil
}

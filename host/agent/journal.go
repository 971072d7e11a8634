package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/strategylab/strategylab/host/journal"
)

// ErrJournal marks what could not be written to the journal. The agent then
// ends, since it must not send anybody what a crash would take back.
var ErrJournal = errors.New("the journal cannot be written")

// Apply takes up one recovered event.
type Apply func(data json.RawMessage) error

// Into returns an Apply that reads the event's data as a T.
func Into[T any](apply func(T) error) Apply {
	return func(data json.RawMessage) error {
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		return apply(v)
	}
}

// Recover opens the journal in the given folder of the data directory and takes
// up its events, by kind. It does nothing without a data directory.
func (m *Member) Recover(agents string, events map[string]Apply) error {
	if m.Data == "" {
		return nil
	}
	j, err := journal.Recover(filepath.Join(m.Folder(agents), "journal"), journal.Config{}, m.Log, func(e journal.Event) error {
		apply := events[e.Type]
		if apply == nil {
			return errors.New("unknown event; a newer version may have written it")
		}
		return apply(e.Data)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", m.role, err)
	}
	m.journal, m.broken = j, make(chan error, 1)
	return nil
}

// DataFolder returns the folder in which agents of a kind keep their data.
func (m *Member) DataFolder(agents string) string { return filepath.Join(m.Data, "data", agents) }

// Folder returns the folder of an agent of a kind in the data directory.
func (m *Member) Folder(agents string) string { return filepath.Join(m.DataFolder(agents), m.folder()) }

// Append writes one event to the journal; it is on disk when Append returns. An error other
// than the end of ctx or of the journal wraps ErrJournal. Without a data directory it does nothing.
func (m *Member) Append(ctx context.Context, kind string, v any) error {
	if m.journal == nil {
		return nil
	}
	err := m.journal.Append(ctx, kind, v)
	if err == nil || ctx.Err() != nil || errors.Is(err, journal.ErrClosed) {
		return err
	}
	err = fmt.Errorf("%w: %w; what is on disk is unknown now, make room and start again to read it", ErrJournal, err)
	select {
	case m.broken <- err:
	default: // Stay knows already
	}
	return err
}

// Close closes the journal.
func (m *Member) Close() error {
	if m.journal == nil {
		return nil
	}
	return m.journal.Close()
}

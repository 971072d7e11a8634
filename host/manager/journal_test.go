package manager_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func TestJournalsThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	log, _ := played(t, 2)
	lines := bytes.SplitAfter(log, []byte("\n"))
	open := func(t *testing.T, content []byte) (*manager.Manager, *book, error) {
		dir := t.TempDir()
		name := manager.JournalName(dir, "cup")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o600)); err != nil {
			t.Fatal(err)
		}
		var log book
		m, err := manager.New(manager.Config{LeagueID: "cup", DataDir: dir, NoSync: true, Log: log.logger(), Caller: caller()})
		return m, &log, err
	}
	t.Run("a bit has flipped", func(t *testing.T) {
		t.Parallel()
		content := bytes.Clone(log)
		content[len(lines[0])+40] ^= 1
		if _, _, err := open(t, content); !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("an event is missing", func(t *testing.T) {
		t.Parallel()
		if _, _, err := open(t, bytes.Join(append(lines[:1:1], lines[2:]...), nil)); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the last line is torn", func(t *testing.T) {
		t.Parallel()
		m, log, err := open(t, log[:len(log)-5])
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if len(log.lines("the journal was repaired")) != 1 {
			t.Errorf("the log says:\n%s", strings.Join(log.all(), ""))
		}
	})
	t.Run("it is in use", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		cfg := manager.Config{LeagueID: "cup", DataDir: dir, NoSync: true, Caller: caller()}
		m, err := manager.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manager.New(cfg); !errors.Is(err, disk.ErrLocked) {
			t.Errorf("the error is %v", err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("it is another league's", func(t *testing.T) {
		t.Parallel()
		// The players of a league of four cannot be those of this one.
		other, _ := played(t, 4)
		events := bytes.SplitAfter(other, []byte("\n"))
		name := filepath.Join(t.TempDir(), "journal")
		j, _, err := journal.Open(name, journal.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range [][]byte{events[0], events[5]} { // a referee, and the start without players
			part := bytes.SplitN(bytes.TrimSpace(line), []byte(" "), 4)
			if err := j.Append(t.Context(), string(part[2]), rawJSON(part[3])); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(t, content); !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "event 2 (started)") {
			t.Errorf("the error is %v", err)
		}
	})
}

type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// caller is for managers that are never run.
func caller() *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(new(jsonrpc.Loopback).From("x"), jsonrpc.ClientConfig{}), Codec: protocol.NewCodec(protocol.Tolerant)}
}

func TestTheJournalKeepsNoToken(t *testing.T) {
	t.Parallel()
	log, agents := played(t, 2)
	for _, s := range agents {
		if bytes.Contains(log, []byte(s.token)) {
			t.Errorf("the journal holds the token of %s", s.id)
		}
		if !bytes.Contains(log, []byte(protocol.NewVerifier(s.token).String())) {
			t.Errorf("the journal does not hold the verifier of %s", s.id)
		}
	}
}

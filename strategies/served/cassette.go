package served

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/strategies"
)

// cassette is a recording of all exchanges with an agent, in which a remark for each choice says
// what came of them. The remark, and not the exchanges, is what a later run finds, by the key of
// the seat (see seat.key): so it has the same choices and the same failures, whatever was sent to
// learn them. It is safe for concurrent use; a nil cassette is empty and keeps nothing.
type cassette struct {
	verdicts map[string]verdict // of earlier runs, by key; never changed
	recorder *trace.Recorder    // nil offline
}

// verdict is what came of a choice, or of a league.
type verdict struct {
	parity game.Parity
	err    error
	spent  int64
}

func (v verdict) choice() (strategies.Choice, error) {
	if v.err != nil {
		return 0, v.err
	}
	return strategies.Play(v.parity), nil
}

// openCassette reads the cassette of an agent in a folder, and continues it.
func openCassette(folder, name string, offline bool) (*cassette, error) {
	c := &cassette{verdicts: make(map[string]verdict)}
	path := filepath.Join(folder, name+".jsonl")
	file, err := os.Open(path)
	switch {
	case err == nil:
		remarks, err := trace.ReadRemarks(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("read cassette %s: %w", path, err)
		}
		for _, r := range remarks {
			if v, ok := readVerdict(r.Text); ok {
				c.verdicts[r.Match] = v
			}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read cassette: %w", err)
	case offline:
		return nil, fmt.Errorf("read cassette: %w; without --offline the agent is asked, and its answers are kept there", err)
	}
	if offline {
		return c, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of cassettes: %w", err)
	}
	c.recorder, err = trace.Create(path, trace.Head{Command: "agent"}, time.Now)
	return c, err
}

// The first word of a verdict that is no fault.
const spentWord = "spent"

// faultCauses are the causes of faults of agents, whose names are the first words of verdicts.
var faultCauses = []error{strategies.ErrTimeout, strategies.ErrCrashed, strategies.ErrInvalidChoice, nil}

func readVerdict(text string) (v verdict, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	if word == spentWord {
		var err error
		v.spent, err = strconv.ParseInt(rest, 10, 64)
		return v, err == nil
	}
	if parity, err := game.ParseParity(word); err == nil {
		return verdict{parity: parity}, true
	}
	for _, cause := range faultCauses {
		v.err = &fault{cause, rest}
		if strategies.FaultOf(v.err).String() == word {
			return v, true
		}
	}
	return verdict{}, false
}

func (c *cassette) find(key string) (verdict, bool) {
	if c == nil {
		return verdict{}, false
	}
	v, ok := c.verdicts[key]
	return v, ok
}

// filled reports whether there are answers of earlier runs.
func (c *cassette) filled() bool { return c != nil && len(c.verdicts) > 0 }

// keep keeps what came of a choice.
func (c *cassette) keep(agent, key string, choice strategies.Choice, err error) {
	switch {
	case c == nil || c.recorder == nil:
	case err != nil:
		c.recorder.Remark(agent, key, strategies.FaultOf(err).String()+" "+err.Error())
	default:
		c.recorder.Remark(agent, key, choice.Resolve(nil).String())
	}
}

// keepSpent keeps what a league has cost, if that was too much.
func (c *cassette) keepSpent(agent, key string, share int64) {
	if c != nil && c.recorder != nil {
		c.recorder.Remark(agent, key, spentWord+" "+strconv.FormatInt(share, 10))
	}
}

// tap records the messages of an agent; nil for nothing.
func (c *cassette) tap(agent string) jsonrpc.Tap {
	if c == nil || c.recorder == nil {
		return nil
	}
	return c.recorder.Tap(agent)
}

func (c *cassette) close() error {
	if c == nil || c.recorder == nil {
		return nil
	}
	return c.recorder.Close()
}

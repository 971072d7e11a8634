package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins/isolate"
)

// Tasks returns the tasks with which a worker process plays leagues, for isolate.Serve.
func Tasks() map[string]isolate.Task {
	s := new(server)
	return map[string]isolate.Task{taskOpen: isolate.JSON(s.open), taskPlay: s.play, taskClose: isolate.JSON(s.leave)}
}

// server is what a worker process plays.
type server struct {
	field   *field // nil while none is open
	leagues []results.League
	encoder *chunk.Encoder
}

// open opens the field of a plan and closes the one before.
func (s *server) open(ctx context.Context, p *isolate.Process, r openRequest, _ func(any) error) error {
	if err := s.field.close(); err != nil {
		return fmt.Errorf("close the field before: %w", err)
	}
	s.field = nil
	if err := p.Extend(r.Histories); err != nil {
		return err
	}
	var err error
	if s.field, err = openField(ctx, r, p); err != nil {
		return err
	}
	s.leagues = make([]results.League, s.field.unit)
	s.encoder, err = chunk.NewEncoder(r.Plan)
	return err
}

// leave closes the field and replies with what it has used.
func (s *server) leave(_ context.Context, _ *isolate.Process, _ struct{}, reply func(any) error) error {
	if s.field == nil {
		return errors.New("close: no plan is open")
	}
	used, err := s.field.usage(), s.field.close()
	s.field = nil
	if err != nil {
		return err
	}
	return reply(used)
}

// play plays leagues and replies with their records, unit by unit.
func (s *server) play(ctx context.Context, _ *isolate.Process, input []byte, reply func([]byte) error) error {
	var r chunk.Request
	if err := json.Unmarshal(input, &r); err != nil {
		return err
	}
	if s.field == nil {
		return errors.New("play: no plan is open")
	}
	for at := 0; at < r.Count; at += s.field.unit {
		leagues := s.leagues[:min(s.field.unit, r.Count-at)]
		if err := s.field.play(ctx, r.First+at, leagues, r.Quarantined); err != nil {
			return err
		}
		records, err := s.encoder.Encode(leagues)
		if err != nil {
			return err
		}
		if err := reply(records); err != nil {
			return err
		}
	}
	return nil
}

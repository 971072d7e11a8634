// Package chunk is the unit of work that travels to another process, and its codec: a
// Request for consecutive leagues goes there, and their records come back in the format
// of host/results, without its header. Packages workers and cluster share it.
package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/strategylab/strategylab/host/results"
)

// Request asks for the records of Count leagues from First on. Quarantined is by field
// index; see experiments.Worker.
type Request struct {
	First, Count int
	Quarantined  []bool
}

// Encoder writes records of the leagues of one plan. It is not safe for concurrent use.
type Encoder struct {
	buf     bytes.Buffer
	encoder *results.Encoder
}

// NewEncoder returns an encoder for the leagues of a plan.
func NewEncoder(plan results.Plan) (*Encoder, error) {
	h, err := results.HeaderOf(plan)
	if err != nil {
		return nil, err
	}
	e := new(Encoder)
	e.encoder, err = results.NewEncoder(&e.buf, h)
	return e, err
}

// Encode returns the records of leagues, valid until the next call. It fails if one is
// not a league of the plan.
func (e *Encoder) Encode(leagues []results.League) ([]byte, error) {
	e.buf.Reset()
	for i := range leagues {
		if err := e.encoder.Encode(&leagues[i]); err != nil {
			return nil, err
		}
	}
	return e.buf.Bytes(), nil
}

// Decoder reads records of the leagues of one plan. It is not safe for concurrent use.
type Decoder struct {
	buf     bytes.Buffer
	decoder *results.Decoder
}

// NewDecoder returns a decoder for the leagues of a plan.
func NewDecoder(plan results.Plan) (*Decoder, error) {
	h, err := results.HeaderOf(plan)
	if err != nil {
		return nil, err
	}
	d := new(Decoder)
	if _, err := results.NewEncoder(&d.buf, h); err != nil {
		return nil, err
	}
	d.decoder, err = results.NewDecoder(&d.buf)
	return d, err
}

// Decode reads the records of leagues first, first+1, ... into out, reusing its memory.
// It fails unless records are those of exactly these leagues; out is then undefined.
func (d *Decoder) Decode(records []byte, first int, out []results.League) error {
	d.buf.Reset()
	d.buf.Write(records)
	d.decoder.Expect(first)
	for i := range out {
		l, err := d.decoder.Decode()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("records of %d leagues from league %d on, want %d", i, first, len(out))
		}
		if err != nil {
			return err
		}
		out[i].CopyFrom(l)
	}
	if n := d.buf.Len(); n > 0 {
		return fmt.Errorf("%d bytes after the records of %d leagues from league %d on", n, len(out), first)
	}
	return nil
}

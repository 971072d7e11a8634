package results

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/strategylab/strategylab/host/game"
)

// Version is the version of leagues.bin that this package reads and writes.
const Version = 1

const (
	magic     = "SLLEAGUE"
	preamble  = len(magic) + 4 + 4 // before the header's body
	fixedBody = 4 + 4 + 32         // of it, before the draw
	maxBody   = 1 << 16
	frame     = 4 + 4 // around a record's payload
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header describes the records of a file. It determines their layout.
type Header struct {
	Players, Legs int
	Draw          game.Draw
	PlanHash      [32]byte // see Plan.Hash
}

// HeaderOf returns the header for a plan's leagues.
func HeaderOf(p Plan) (Header, error) {
	draw, err := game.ParseDraw(p.Draw)
	if err != nil {
		return Header{}, err
	}
	return Header{Players: len(p.Field), Legs: p.Legs, Draw: draw, PlanHash: p.Hash()}, nil
}

func (h Header) append(buf []byte) []byte {
	start := len(buf)
	draw := h.Draw.String()
	buf = append(buf, magic...)
	buf = binary.LittleEndian.AppendUint32(buf, Version)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(fixedBody+len(draw)))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(h.Players))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(h.Legs))
	buf = append(buf, h.PlanHash[:]...)
	buf = append(buf, draw...)
	return binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf[start:], castagnoli))
}

// readHeader reads a header and returns its length in the file. If the file ends
// within the header, the error is io.ErrUnexpectedEOF.
func readHeader(r io.Reader) (Header, int, error) {
	buf := make([]byte, preamble, preamble+maxBody+4)
	if _, err := io.ReadFull(r, buf); err != nil {
		return Header{}, 0, fmt.Errorf("read header: %w", noEOF(err))
	}
	if string(buf[:len(magic)]) != magic {
		return Header{}, 0, errors.New("read header: not a file of leagues")
	}
	if v := binary.LittleEndian.Uint32(buf[len(magic):]); v != Version {
		return Header{}, 0, fmt.Errorf("read header: format version %d; this program reads version %d", v, Version)
	}
	body := int(binary.LittleEndian.Uint32(buf[len(magic)+4:]))
	if body < fixedBody || body > maxBody {
		return Header{}, 0, fmt.Errorf("read header: damaged: body of %d bytes", body)
	}
	buf = buf[:preamble+body+4]
	if _, err := io.ReadFull(r, buf[preamble:]); err != nil {
		return Header{}, 0, fmt.Errorf("read header: %w", noEOF(err))
	}
	end := preamble + body
	if binary.LittleEndian.Uint32(buf[end:]) != crc32.Checksum(buf[:end], castagnoli) {
		return Header{}, 0, errors.New("read header: damaged: bad checksum")
	}
	draw, err := game.ParseDraw(string(buf[preamble+fixedBody : end]))
	if err != nil {
		return Header{}, 0, fmt.Errorf("read header: %w", err)
	}
	return Header{
		Players:  int(binary.LittleEndian.Uint32(buf[preamble:])),
		Legs:     int(binary.LittleEndian.Uint32(buf[preamble+4:])),
		Draw:     draw,
		PlanHash: [32]byte(buf[preamble+8:]),
	}, len(buf), nil
}

// noEOF turns the end of the file into an unexpected one.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Encoder writes leagues in the format of FORMAT.md. It does not buffer: each league
// is one Write. It is not safe for concurrent use.
type Encoder struct {
	w     io.Writer
	codec *codec
	buf   []byte
}

// NewEncoder writes the header and returns an encoder for the records.
func NewEncoder(w io.Writer, h Header) (*Encoder, error) {
	e, err := resumeEncoder(w, h)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(h.append(nil)); err != nil {
		return nil, fmt.Errorf("write header: %w", err)
	}
	return e, nil
}

// resumeEncoder returns an encoder for a file that has a header.
func resumeEncoder(w io.Writer, h Header) (*Encoder, error) {
	c, err := newCodec(h)
	if err != nil {
		return nil, err
	}
	return &Encoder{w: w, codec: c}, nil
}

// Encode writes one league. It fails and writes nothing if l is not a league of the plan.
func (e *Encoder) Encode(l *League) error {
	buf, err := e.codec.append(append(e.buf[:0], 0, 0, 0, 0), l)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-4))
	buf = binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
	e.buf = buf
	if _, err := e.w.Write(buf); err != nil {
		return fmt.Errorf("write league %d: %w", l.Index, err)
	}
	return nil
}

// Decoder reads what an Encoder wrote. It is not safe for concurrent use.
type Decoder struct {
	r      io.Reader
	header Header
	codec  *codec
	at     int64 // start of the next record
	next   int   // index of the first record not yet read
	begun  bool
	buf    []byte
	league League
}

// NewDecoder reads the header. It makes small reads: pass a buffered reader.
func NewDecoder(r io.Reader) (*Decoder, error) {
	h, n, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	c, err := newCodec(h)
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	return &Decoder{r: r, header: h, codec: c, at: int64(n)}, nil
}

// Offset returns the offset of the next record in the file, in bytes.
func (d *Decoder) Offset() int64 { return d.at }

// Expect makes Decode want the league with the given index next: the leagues of a
// connection need not follow each other.
func (d *Decoder) Expect(league int) { d.begun, d.next = true, league }

// Decode returns the next league, or io.EOF after the last. The league is valid
// until the next call. A damaged record is a *DamageError; do not call Decode after
// it. Errors of the underlying reader are wrapped.
func (d *Decoder) Decode() (*League, error) {
	body, err := d.read()
	if err != nil {
		return nil, err
	}
	if err := d.codec.decode(body, &d.league); err != nil {
		return nil, d.damage(err)
	}
	if d.begun && d.league.Index != d.next {
		return nil, d.damage(fmt.Errorf("found league %d, want league %d", d.league.Index, d.next))
	}
	d.begun, d.next = true, d.league.Index+1
	d.at += int64(len(body) + frame)
	return &d.league, nil
}

// read returns the payload of the next record.
func (d *Decoder) read() ([]byte, error) {
	d.buf = append(d.buf[:0], 0, 0, 0, 0)
	if n, err := io.ReadFull(d.r, d.buf); err == io.EOF {
		return nil, io.EOF
	} else if err != nil {
		return nil, d.failed(n, err)
	}
	n := uint64(binary.LittleEndian.Uint32(d.buf))
	if n < d.codec.limits[0] || n > d.codec.limits[1] {
		return nil, d.damage(fmt.Errorf("a record of %d bytes", n))
	}
	// A damaged length must not cause a huge allocation.
	const piece = 1 << 20
	for rest := int(n) + 4; rest > 0; {
		have, want := len(d.buf), min(rest, piece)
		if cap(d.buf)-have < want {
			d.buf = append(d.buf, make([]byte, want)...)
		}
		d.buf = d.buf[:have+want]
		if got, err := io.ReadFull(d.r, d.buf[have:]); err != nil {
			return nil, d.failed(have+got, err)
		}
		rest -= want
	}
	end := len(d.buf) - 4
	if binary.LittleEndian.Uint32(d.buf[end:]) != crc32.Checksum(d.buf[:end], castagnoli) {
		return nil, d.damage(errors.New("bad checksum"))
	}
	return d.buf[4:end], nil
}

func (d *Decoder) failed(got int, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.damage(fmt.Errorf("cut short after %d bytes", got))
	}
	return fmt.Errorf("read leagues at byte %d: %w", d.at, err)
}

func (d *Decoder) damage(err error) error {
	return &DamageError{Offset: d.at, League: d.next, Err: err}
}

// DamageError is a damaged record.
type DamageError struct {
	Offset int64 // where the record starts, in bytes from the start of the file
	League int   // expected there
	Err    error
}

// Error names the league and the offset.
func (e *DamageError) Error() string {
	return fmt.Sprintf("record of league %d at byte %d: %v", e.League, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

package results

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Tear is the incomplete end of a file whose writer was killed. Nothing of value is
// lost: a resumed run plays these leagues again.
type Tear struct {
	Offset  int64 // where the sound part ends, in bytes
	Dropped int64 // bytes after it
	Leagues int   // in the sound part
	Err     error // what was wrong
}

// String describes the tear.
func (t *Tear) String() string {
	return fmt.Sprintf("the last %d bytes, after league %d, are incomplete (%v)", t.Dropped, t.Leagues-1, t.Err)
}

// survey reads the leagues of a plan from the start of a file and finds the end of
// its sound part. It calls yield, if not nil, with every league until yield
// returns false. Damage followed by sound records is an error, not a tear.
func survey(f io.ReaderAt, size int64, plan Plan, yield func(*League) bool) (dec *Decoder, tear *Tear, err error) {
	dec, err = NewDecoder(bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<18))
	if err != nil {
		return nil, nil, err
	}
	if dec.header.PlanHash != plan.Hash() {
		return nil, nil, fmt.Errorf("%w: %s beside the leagues is not their plan", ErrPlanDiffers, PlanFile)
	}
	dec.next, _ = plan.Span()
	for want := dec.next; ; want++ {
		l, err := dec.Decode()
		var damage *DamageError
		switch {
		case err == io.EOF:
			return dec, nil, nil
		case errors.As(err, &damage):
			tear, err := classify(f, size, dec, damage)
			return dec, tear, err
		case err != nil:
			return nil, nil, err
		case l.Index != want:
			return nil, nil, fmt.Errorf("found league %d, want league %d", l.Index, want)
		case yield != nil && !yield(l):
			return dec, nil, nil
		}
	}
}

// classify distinguishes a tear from other damage.
func classify(f io.ReaderAt, size int64, dec *Decoder, damage *DamageError) (*Tear, error) {
	at, found, err := nextSound(f, size, damage.Offset+1, dec.codec)
	if err != nil {
		return nil, err
	}
	if found {
		return nil, fmt.Errorf("%w; sound records follow from byte %d, so the writer was not killed here; "+
			"restore the file from a copy, or cut it to %d bytes and resume: "+
			"the later leagues are played again with the same results", damage, at, damage.Offset)
	}
	return &Tear{
		Offset: damage.Offset, Dropped: size - damage.Offset, Leagues: damage.League, Err: damage.Err,
	}, nil
}

// nextSound looks for a complete record with a valid checksum from byte start on.
// Lengths are rarely plausible by chance, so little is read twice.
func nextSound(f io.ReaderAt, size, start int64, c *codec) (int64, bool, error) {
	const window = 1 << 20
	shortest := int64(c.limits[0]) + frame
	buf := make([]byte, window)
	for base := start; base+shortest <= size; base += window - 3 {
		n, err := f.ReadAt(buf[:min(window, size-base)], base)
		if err != nil && err != io.EOF {
			return 0, false, fmt.Errorf("read leagues at byte %d: %w", base, err)
		}
		for i := 0; i+4 <= n; i++ {
			length := uint64(binary.LittleEndian.Uint32(buf[i:]))
			at := base + int64(i)
			if length < c.limits[0] || length > c.limits[1] || at+frame+int64(length) > size {
				continue
			}
			if ok, err := sound(f, at, int64(length)); ok || err != nil {
				return at, ok, err
			}
		}
	}
	return 0, false, nil
}

func sound(f io.ReaderAt, at, length int64) (bool, error) {
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, at, 4+length)); err != nil {
		return false, fmt.Errorf("read leagues at byte %d: %w", at, err)
	}
	var want [4]byte
	if _, err := f.ReadAt(want[:], at+4+length); err != nil && err != io.EOF {
		return false, fmt.Errorf("read leagues at byte %d: %w", at, err)
	}
	return binary.LittleEndian.Uint32(want[:]) == sum.Sum32(), nil
}

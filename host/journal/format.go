package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// maxLine bounds a line, so that a damaged file cannot ask for all memory. A
// league's largest event, the schedule of a thousand players, is far below.
const maxLine = 64 << 20

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func writeLine(w *bufio.Writer, e Event) {
	body := fmt.Appendf(nil, "%d %s %s", e.Seq, e.Type, e.Data)
	fmt.Fprintf(w, "%08x %s\n", castagnoli(body), body) // errors stay with w until Flush
}

// read returns the whole events of a journal and the size they take up.
func read(r io.Reader) (found Opened, size int64, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				found.Repaired = fmt.Sprintf("cut off a torn last line of %d bytes after event %d", len(line), len(found.Events))
			}
			return found, size, nil
		case err != nil:
			return Opened{}, 0, err
		case len(line) > maxLine:
			return Opened{}, 0, fmt.Errorf("%w: line %d is %d bytes long", ErrDamaged, len(found.Events)+1, len(line))
		}
		e, err := parseLine(line[:len(line)-1])
		if err == nil && e.Seq != uint64(len(found.Events))+1 {
			err = fmt.Errorf("event %d stands where %d belongs", e.Seq, len(found.Events)+1)
		}
		if err != nil {
			return Opened{}, 0, fmt.Errorf("%w: line %d (byte %d): %w; restore the file from a copy, or cut it off before that line to lose what follows",
				ErrDamaged, len(found.Events)+1, size, err)
		}
		found.Events = append(found.Events, e)
		size += int64(len(line))
	}
}

func parseLine(line []byte) (Event, error) {
	sum, body, ok := bytes.Cut(line, []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || len(sum) != 8 || err != nil {
		return Event{}, errors.New("it does not begin with a checksum")
	}
	if castagnoli(body) != uint32(want) {
		return Event{}, errors.New("its checksum does not match")
	}
	number, rest, _ := bytes.Cut(body, []byte(" "))
	kind, data, ok := bytes.Cut(rest, []byte(" "))
	seq, err := strconv.ParseUint(string(number), 10, 64)
	if !ok || err != nil || len(kind) == 0 || !json.Valid(data) {
		return Event{}, errors.New("it is not a sequence number, a type and a JSON value")
	}
	return Event{Seq: seq, Type: string(kind), Data: bytes.Clone(data)}, nil
}

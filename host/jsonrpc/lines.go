package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads documents, one a line.
type lineReader struct {
	br  *bufio.Reader
	max int64
}

func newLineReader(r io.Reader, max int64) *lineReader {
	return &lineReader{br: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line that is not blank, without its end, in memory of
// its own. The last line needs no end. A line longer than max is read to its
// end and gives errTooLong; reading can go on after it.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil // an error comes again at the next call
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.br.ReadSlice('\n')
		if !tooLong {
			// The line end does not count, nor does the \r of a \r\n.
			tooLong = int64(len(line)+len(bytes.TrimRight(part, "\r\n"))) > l.max
			line = append(line, part...)
		}
		if tooLong {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong:
			return nil, errTooLong
		}
		return line, err
	}
}

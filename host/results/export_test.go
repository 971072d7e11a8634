package results

import (
	"encoding/binary"
	"hash/crc32"
)

// Frame adds a payload to a file with its length and its checksum.
func Frame(file, payload []byte) []byte {
	start := len(file)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(payload)))
	file = append(file, payload...)
	return binary.LittleEndian.AppendUint32(file, crc32.Checksum(file[start:], castagnoli))
}

// Torn returns the unsound end that the last complete pass of Leagues met, or nil.
func (r *Reader) Torn() *Tear { return r.tear }

// Header returns what the file says of itself.
func (d *Decoder) Header() Header { return d.header }

// ReadPlan reads and validates a plan.json.
var ReadPlan = readPlan

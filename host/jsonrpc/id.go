package jsonrpc

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// RandomID returns a random UUID (version 4 of RFC 9562).
func RandomID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	return formatUUID(u, 4)
}

// SequentialIDs returns a source of UUIDs (version 5 of RFC 9562) that depend
// only on the seed and on how many were taken before: for reproducible
// recordings. The source is safe for concurrent use, and reproducible only
// where the order of the calls is.
func SequentialIDs(seed string) func() string {
	namespace := seedNamespace()
	var taken atomic.Uint64
	return func() string {
		name := strconv.AppendUint([]byte(seed+"/"), taken.Add(1), 10)
		sum := sha1.Sum(append(namespace[:], name...))
		return formatUUID([16]byte(sum[:16]), 5)
	}
}

// seedNamespace returns the namespace of the UUIDs of SequentialIDs, itself the
// version 5 UUID of "jsonrpc.SequentialIDs" in the OID namespace of RFC 9562.
func seedNamespace() [16]byte {
	return [16]byte{0xdb, 0xa7, 0x71, 0x62, 0x07, 0x95, 0x5b, 0x2e,
		0x88, 0x8c, 0x59, 0xc3, 0x20, 0x88, 0xdf, 0xf0}
}

// formatUUID writes u with the given version and the variant of RFC 9562.
func formatUUID(u [16]byte, version byte) string {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

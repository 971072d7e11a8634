package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// longestName is a length that every file system takes, in bytes.
const longestName = 200

// FileName returns a text as the name of a file or a folder in any directory. ASCII
// letters, digits, '_', '-' and '.' stay as they are, except for a dot at an end and the
// first letter of a device; everything else is escaped as in a URL. A long name ends in a hash.
func FileName(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.' && 0 < i && i < len(text)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if IsDevice(name) {
		name = fmt.Sprintf("%%%02X", name[0]) + name[1:]
	}
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:8])
	return name[:longestName-len(hash)] + hash
}

// IsDevice reports whether Windows takes a name of a file for a device, in any directory
// and whatever its extension, such as con.lua.
func IsDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	port, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && len(port) == 1 && '0' <= port[0] && port[0] <= '9'
}

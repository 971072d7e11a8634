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
// letters, digits, '_', '-' and '.' stay as they are, except for a dot at the
// beginning; everything else is escaped as in a URL. A long name ends in a hash.
func FileName(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:8])
	return name[:longestName-len(hash)] + hash
}

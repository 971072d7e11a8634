package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ValidID reports whether id may name a player, a match or a league: it
// matches ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$ and so is safe in a file name.
func ValidID[T ~string | ~[]byte](id T) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '_' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// ValidForeignID reports whether tolerant agents take a text for an id, as some
// managers adopt names as ids, and whether an agent may call itself so before it has one.
// It has 1 to 128 characters, none of them a control character; it may be a path, so that
// no file is named after it as it is.
func ValidForeignID(id string) bool {
	return id != "" && utf8.RuneCountInString(id) <= 128 && strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// ValidForeignMatch reports whether tolerant agents take a text for the id of a
// match. One that begins as a path that leads elsewhere is an attack: leagues name
// agents in odd ways, never matches.
func ValidForeignMatch(id string) bool { return ValidForeignID(id) && !strings.HasPrefix(id, "..") }

// NumberedID returns the id by which a league counts its agents: P07, or REF07 of a referee.
func NumberedID(role Role, number int) string {
	return fmt.Sprintf("%s%02d", idPrefixes[role], number)
}

// IDNumber returns the number in an id of the form P07 or REF07, with one to nine
// digits, and whether the id has that form.
func IDNumber(role Role, id string) (number int, ok bool) {
	digits, ok := strings.CutPrefix(id, idPrefixes[role])
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), ok && err == nil && len(digits) < 10
}

var idPrefixes = map[Role]string{RoleReferee: "REF", RolePlayer: "P"}

// Timestamp returns t as this package writes times: UTC, whole seconds
// (rounded down), ending in Z, which is the one spelling every reader accepts.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Deadline returns t like [Timestamp] but rounded up to a whole second, so
// that the written deadline is never before the enforced one.
func Deadline(t time.Time) string {
	if down := t.Truncate(time.Second); t.After(down) {
		t = down.Add(time.Second)
	}
	return Timestamp(t)
}

// ParseTimestamp reads an ISO 8601 time in UTC, ending in Z or +00:00, with or
// without fractions of a second. Any other offset is an error. It refuses what [time.Time]
// reads beyond RFC 3339: an hour of one digit, and a comma before the fraction. Leap seconds are
// not read: no program of a league has a use for them, and most clocks none either.
func ParseTimestamp[T ~string | ~[]byte](text T) (t time.Time, err error) {
	s := []byte(text)
	utc := bytes.HasSuffix(s, []byte("Z")) || bytes.HasSuffix(s, []byte("+00:00"))
	if !utc || len(s) <= len("2006-01-02T15") || s[len("2006-01-02T15")] != ':' || bytes.IndexByte(s, ',') >= 0 || t.UnmarshalText(s) != nil {
		return time.Time{}, fmt.Errorf("protocol: %q is not an ISO 8601 time in UTC ending in Z or +00:00", s)
	}
	return t.UTC(), nil
}

// A Role is the kind of agent that signs a message.
type Role string

// The roles, as they stand at the start of a sender.
const (
	RoleManager  Role = "league_manager"
	RoleLauncher Role = "launcher"
	RoleReferee  Role = "referee"
	RolePlayer   Role = "player"
)

// Sender returns the sender field of an agent: "referee:REF01". The manager
// and the launcher sign without an id.
func Sender(role Role, id string) string {
	if id == "" {
		return string(role)
	}
	return string(role) + ":" + id
}

// ParseSender splits a sender into role and id. A referee and a player must
// give an id or, before they have one, a name of at most 128 characters; the
// launcher never does, and the manager need not.
func ParseSender(sender string) (Role, string, error) {
	role, id, named := strings.Cut(sender, ":")
	switch r := Role(role); {
	case (r == RoleManager || r == RoleLauncher) && !named:
		return r, "", nil
	case r == RoleManager && ValidID(id):
		return r, id, nil
	case (r == RoleReferee || r == RolePlayer) && ValidForeignID(id):
		return r, id, nil
	}
	return "", "", fmt.Errorf("protocol: sender %q is none of league_manager, launcher, referee:<id>, player:<id>", sender)
}

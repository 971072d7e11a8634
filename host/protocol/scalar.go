package protocol

import (
	"fmt"
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
// without fractions of a second. Any other offset is an error.
func ParseTimestamp(s string) (time.Time, error) {
	if !validTimestamp(s) {
		return time.Time{}, fmt.Errorf("protocol: %q is not an ISO 8601 time in UTC ending in Z or +00:00", s)
	}
	// Go reads fractions after the seconds by itself.
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("protocol: %w", err)
	}
	return t.UTC(), nil
}

// timestampPattern is the form of a timestamp: 9 stands for a digit.
const timestampPattern = "9999-99-99T99:99:99"

// validTimestamp reports whether ParseTimestamp reads s. Leap seconds are not
// read: no program of a league has a use for them, and most clocks none either.
func validTimestamp[T ~string | ~[]byte](s T) bool {
	if len(s) <= len(timestampPattern) {
		return false
	}
	for i := range len(timestampPattern) {
		want, got := timestampPattern[i], s[i]
		if want == '9' && (got < '0' || got > '9') || want != '9' && got != want {
			return false
		}
	}
	two := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || two(11) > 23 || two(14) > 59 || two(17) > 59 {
		return false
	}
	rest := s[len(timestampPattern):]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	return string(rest) == "Z" || string(rest) == "+00:00"
}

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
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
	case (r == RoleReferee || r == RolePlayer) && validName(id):
		return r, id, nil
	}
	return "", "", fmt.Errorf("protocol: sender %q is none of league_manager, launcher, referee:<id>, player:<id>", sender)
}

// validName reports whether an agent may call itself so before it has an id:
// 1 to 128 characters, no control characters.
func validName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > 128 {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

package command

import (
	"cmp"
	"sync/atomic"
)

// Stage is what a command is doing, for a message to who stops it. A nil Stage keeps
// nothing. It is safe for concurrent use.
type Stage struct{ doing atomic.Value }

// Set says what the command does from now on, as in "writing the report".
func (s *Stage) Set(doing string) {
	if s != nil {
		s.doing.Store(doing)
	}
}

// Doing returns what the command does.
func (s *Stage) Doing() string {
	const unknown = "finishing what is in progress"
	if s == nil {
		return unknown
	}
	doing, _ := s.doing.Load().(string)
	return cmp.Or(doing, unknown)
}

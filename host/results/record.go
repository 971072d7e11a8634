// Package results is the record of played leagues: what a plan was, what
// happened in each of its leagues, and the files that keep both. Everything
// that is ever computed about an experiment can be computed from it.
//
// The file format is specified in FORMAT.md beside this file.
package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/strategylab/strategylab/host/game"
)

// Plan says what an experiment plays. It determines every byte of the records,
// save for faults that depend on the clock. It is kept as plan.json.
type Plan struct {
	Schema    string    `json:"schema"` // PlanSchema
	Runs      int       `json:"runs"`   // leagues to play, numbered from 0
	Legs      int       `json:"legs"`   // how often each pair meets in one league
	Seed      uint64    `json:"seed,string"`
	Draw      string    `json:"draw"`      // see game.ParseDraw
	Transport string    `json:"transport"` // "direct", "loopback" or "http"
	Field     []Entrant `json:"field"`     // by field index
	// Stop, if not nil, is what ends the run before Runs leagues, which then are the
	// most that are played. No league depends on it.
	Stop *Stop `json:"stop,omitempty"`
}

// Stop is a rule for ending a run early: Until, or the test in Ratio. Analysis says
// what it means.
type Stop struct {
	Until     string  `json:"until,omitempty"`     // "ranked", "best" or "precision=0.005"
	Guarantee string  `json:"guarantee,omitempty"` // of Until: "asymptotic" or "finite"
	Margin    float64 `json:"margin,omitempty"`    // of indifference, in points per match
	Ratio     *Ratio  `json:"sprt,omitempty"`
}

// Ratio is a sequential probability ratio test of the difference between two
// players in adjusted points per match.
type Ratio struct {
	New   string  `json:"new"` // name in the field
	Old   string  `json:"old"`
	Delta float64 `json:"delta"`
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
}

// PlanSchema is the version of plan.json that this package reads and writes.
const PlanSchema = "strategylab/plan/v1"

// Entrant is one player of the field.
type Entrant struct {
	Name        string `json:"name"` // unique in the field: "markov-2", "random#3"
	Kind        string `json:"kind"` // "builtin", "lua", "js" or "plugin"
	Ref         string `json:"ref"`  // what the user named: "random*8", "scripts/mine.lua"
	Source      string `json:"source,omitempty"`
	Fingerprint string `json:"fingerprint"` // of the code that played
}

// League is what happened in one league. Writers and players of leagues reuse
// its slices; whoever keeps a League copies it.
type League struct {
	Index   int     // in the plan, from 0
	Seats   []int   // Seats[s] is the field index of the player on seat s
	Matches []Match // in the order of game.Schedule
	Notes   []Note  // what a person wants to know of the faults; not part of the digest
}

// Match is what happened in one match. Which seats played it stands in the
// schedule. A side's choice is kept where one was made, even if the match was
// then decided on technical grounds.
type Match struct {
	A, B   game.Side
	Number int32 // the drawn number; -1 if none was drawn
}

// NoNumber is Match.Number where no number was drawn.
const NoNumber = -1

// Verdict scores the match by the rules.
func (m Match) Verdict() game.Verdict { return game.Judge(m.A, m.B, int(m.Number)) }

// Note keeps the first fault of a kind that a player has in an experiment.
type Note struct {
	Field int        // field index
	Fault game.Fault // its kind
	Text  string     // "scripts/x.lua:12: choose: attempt to index nil"
}

// Hasher computes the digest of an experiment: SHA-256 over the SHA-256 of
// each league's canonical form (FORMAT.md) in league order. Two experiments
// have one digest if the same players, by field index, sat on the same seats,
// made the same choices, lost the same matches on technical grounds and met
// the same drawn numbers. What the players are called, where their code lies,
// how messages travelled, why a side was at fault and what is noted of it do
// not enter.
//
// The digest of more leagues follows from feeding a Hasher the earlier ones
// again. It is for one goroutine at a time.
type Hasher struct {
	total hash.Hash
	n     int
	buf   []byte
}

// NewHasher returns the Hasher of no leagues.
func NewHasher() *Hasher { return &Hasher{total: sha256.New()} }

// Add feeds the next league. It fails if l is not the one whose turn it is.
func (h *Hasher) Add(l *League) error {
	if l.Index != h.n {
		return fmt.Errorf("digest: league %d follows league %d", l.Index, h.n-1)
	}
	h.buf = appendCanonical(h.buf[:0], l)
	sum := sha256.Sum256(h.buf)
	h.total.Write(sum[:])
	h.n++
	return nil
}

// Len returns how many leagues have been fed.
func (h *Hasher) Len() int { return h.n }

// Digest returns the digest of the leagues fed so far, in hexadecimal.
func (h *Hasher) Digest() string { return hex.EncodeToString(h.total.Sum(nil)) }

func appendCanonical(buf []byte, l *League) []byte {
	buf = append(buf, "strategylab/league/v1\x00"...)
	buf = binary.AppendUvarint(buf, uint64(l.Index))
	buf = binary.AppendUvarint(buf, uint64(len(l.Seats)))
	for _, field := range l.Seats {
		buf = binary.AppendUvarint(buf, uint64(field))
	}
	buf = binary.AppendUvarint(buf, uint64(len(l.Matches)))
	for _, m := range l.Matches {
		buf = append(buf, canonicalSide(m.A)|canonicalSide(m.B)<<4)
		if number := uint64(m.Number + 1); number < 0x80 {
			buf = append(buf, byte(number))
		} else {
			buf = binary.AppendUvarint(buf, number)
		}
	}
	return buf
}

func canonicalSide(s game.Side) byte {
	b := byte(s.Choice)
	if s.Fault != game.NoFault {
		b |= 4
	}
	return b
}

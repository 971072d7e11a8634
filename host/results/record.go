// Package results is the record of played leagues: the plan, what happened in each
// league, and their files. Every analysis of an experiment works from it.
//
// FORMAT.md beside this file specifies the file format.
package results

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
)

// Plan is what an experiment plays, stored as plan.json. It determines every byte
// of the records, except for faults that depend on the clock.
type Plan struct {
	Schema    string    `json:"schema"` // PlanSchema, or an earlier one
	Runs      int       `json:"runs"`   // leagues to play, numbered from 0
	Legs      int       `json:"legs"`   // how often each pair meets in one league
	Seed      uint64    `json:"seed,string"`
	Draw      string    `json:"draw"`      // see game.ParseDraw
	Transport string    `json:"transport"` // "direct", "loopback" or "http"
	Field     []Entrant `json:"field"`     // by field index
	// Stop, if not nil, may end the run before Runs leagues. No league depends on it.
	Stop *Stop `json:"stop,omitempty"`
	// Confirms, if not nil, says what the run confirms. No league depends on it.
	Confirms *Confirms `json:"confirms,omitempty"`
	// Looks are the numbers of leagues at which the run was complete, and was then
	// extended, ascending. No league depends on them.
	Looks []int `json:"looks,omitempty"`
	// Shard, if not nil, says which of the leagues are in this folder. No league depends on it.
	Shard *Shard `json:"shard,omitempty"`
	// Records is "none" if the folder keeps sums instead of leagues, else empty. No league
	// depends on it.
	Records string `json:"records,omitempty"`
}

// Confirms is the run that another one confirms with a fresh seed: what it showed first,
// written down before the leagues of the other are played.
type Confirms struct {
	Seed  uint64 `json:"seed,string"`     // of the run
	First string `json:"first,omitempty"` // name of the player with the most adjusted points there; empty if nothing was ranked
}

// Stop is a stopping rule: Until, or the test in Ratio. Package analysis defines their meaning.
type Stop struct {
	Until     string  `json:"until,omitempty"`     // "ranked", "best" or "precision=0.005"
	Guarantee string  `json:"guarantee,omitempty"` // "asymptotic" or "finite"; empty is asymptotic for Ratio
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

// Versions of plan.json. A run keeps the one it began with.
const (
	// PlanSchema is the version of new runs.
	PlanSchema = "strategylab/plan/v4"
	// PlanSchema3 is that of runs in which a league may cost several times as much.
	PlanSchema3 = "strategylab/plan/v3"
	// PlanSchema2 is that of runs that bound single calls only, and not what all calls of
	// a player cost.
	PlanSchema2 = "strategylab/plan/v2"
	// PlanSchema1 is that of runs that decide about quarantine every 64 leagues,
	// from the first on; see package experiments.
	PlanSchema1 = "strategylab/plan/v1"
)

// Entrant is one player of the field.
type Entrant struct {
	Name        string `json:"name"` // unique in the field: "markov-2", "random#3"
	Kind        string `json:"kind"` // "builtin", "lua", "js", "wasm" or "plugin"
	Ref         string `json:"ref"`  // the user's reference: "random*8", "scripts/mine.lua"
	Source      string `json:"source,omitempty"`
	Fingerprint string `json:"fingerprint"` // of the code
}

// Copies has, by field index, the first player of the field that is the same strategy with
// the same code: the player itself if none before it is.
func (p Plan) Copies() []int {
	list, known := make([]int, len(p.Field)), map[[4]string]int{}
	for i, e := range p.Field {
		key := [4]string{e.Kind, e.Ref, e.Source, e.Fingerprint}
		first, seen := known[key]
		if list[i] = i; e.Ref == "" { // unknown
			continue
		}
		if known[key] = i; seen {
			list[i], known[key] = first, first
		}
	}
	return list
}

// League is the record of one league. Readers and drivers reuse its slices; copy a
// League to keep it.
type League struct {
	Index   int     // in the plan, from 0
	Seats   []int   // Seats[s] is the field index of the player on seat s
	Matches []Match // in the order of game.Schedule
	Notes   []Note  // descriptions of faults; not part of the digest
	Costs   []Cost  // of players that cost too much, by field index; not part of the digest
}

// CopyFrom makes l a copy of another league and reuses its memory.
func (l *League) CopyFrom(from *League) {
	l.Index = from.Index
	l.Seats = append(l.Seats[:0], from.Seats...)
	l.Matches = append(l.Matches[:0], from.Matches...)
	l.Notes = append(l.Notes[:0], from.Notes...)
	l.Costs = append(l.Costs[:0], from.Costs...)
}

// AddCost adds what a player has cost, in its place; of two costs the last counts.
func (l *League) AddCost(c Cost) {
	c.Share = min(c.Share, MaxShare)
	at, known := slices.BinarySearchFunc(l.Costs, c, func(a, b Cost) int { return cmp.Compare(a.Field, b.Field) })
	if known {
		l.Costs[at] = c
		return
	}
	l.Costs = slices.Insert(l.Costs, at, c)
}

// NoteOf returns a note with as much of a text as fits.
func NoteOf(field int, fault game.Fault, text string) Note {
	if len(text) > MaxNoteText {
		text = strings.ToValidUTF8(text[:MaxNoteText], "")
	}
	return Note{Field: field, Fault: fault, Text: text}
}

// Match is the record of one match. The schedule says which seats played it. A side
// keeps its choice even if the match ended by technical loss.
type Match struct {
	A, B   game.Side
	Number int32 // the drawn number; NoNumber if none was drawn
}

// NoNumber is Match.Number if no number was drawn.
const NoNumber = -1

// Verdict scores the match by the rules.
func (m Match) Verdict() game.Verdict { return game.Judge(m.A, m.B, int(m.Number)) }

// Note describes the first fault of a kind of a player in an experiment.
type Note struct {
	Field int        // field index
	Fault game.Fault // its kind
	Text  string     // "scripts/x.lua:12: choose: attempt to index nil"
}

// Cost is what a player has cost in a league, if that is more than a league may cost; in a record,
// what was measured is there as a sum, and only where it decides: see package experiments. Plans
// before PlanSchema3 have none.
type Cost struct {
	Field int   // field index
	Share int64 // of what a league may cost, in FullShare parts; more than that
	Exact bool  // it was counted; else it was measured, which nobody can reproduce
}

// FullShare is the share that a league may cost, and MaxShare the largest Cost.Share.
const (
	FullShare = 1000
	MaxShare  = 1 << 40
)

// Hasher computes the digest of an experiment: SHA-256 over the SHA-256 of each league's canonical
// form (FORMAT.md) in league order. Digests are equal if the same players, by field index, had the
// same seats, made the same choices, had the same technical losses and met the same drawn numbers.
// Names, sources, transport, kinds of faults and notes do not count.
//
// A Hasher is not safe for concurrent use.
type Hasher struct {
	total hash.Hash
	n     int
	buf   []byte
}

// NewHasher returns the Hasher of no leagues.
func NewHasher() *Hasher { return NewHasherAt(0) }

// NewHasherAt returns the Hasher of the leagues of a shard, the first of which has the given index.
func NewHasherAt(first int) *Hasher { return &Hasher{total: sha256.New(), n: first} }

// Add adds the next league. It fails if l has another index.
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

// Len returns the index of the next league: the number of leagues added, unless the
// Hasher is that of a shard.
func (h *Hasher) Len() int { return h.n }

// Digest returns the digest of the leagues so far, in hexadecimal.
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

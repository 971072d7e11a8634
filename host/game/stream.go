package game

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Every use of randomness has a stream of its own, keyed by what it is for and
// by whom it concerns, through SHA-256. So no use can shift another, any match
// can be replayed alone, and nobody that sees one stream can compute another: a
// strategy is handed its own seat's key and learns nothing of the draws.

// streamKey hashes a domain and its integers into 256 bits.
func streamKey(domain string, parts ...uint64) [32]byte {
	buf := make([]byte, 0, 96)
	buf = append(buf, "strategylab/v1/"...)
	buf = append(buf, domain...)
	buf = append(buf, 0)
	for _, p := range parts {
		buf = binary.BigEndian.AppendUint64(buf, p)
	}
	return sha256.Sum256(buf)
}

// DrawStream yields the draws of one league: its m-th word belongs to match m
// of the schedule, whether or not that match draws a number. It is ChaCha8, so
// that past draws do not give away those to come.
type DrawStream struct{ c rand.ChaCha8 }

// NewDrawStream returns the draws of a league of a plan.
func NewDrawStream(seed uint64, league int) *DrawStream {
	s := new(DrawStream)
	s.Reset(seed, league)
	return s
}

// Reset makes s the stream of another league without allocating.
func (s *DrawStream) Reset(seed uint64, league int) {
	s.c.Seed(streamKey("draw", seed, uint64(league)))
}

// Next returns the next match's word, to be given to Draw.Pick.
func (s *DrawStream) Next() uint64 { return s.c.Uint64() }

// Seats returns the seating of one league: Seats[s] is the field index of
// the player on seat s. All n! orders are equally likely.
func Seats(seed uint64, league, n int) []int {
	seats := make([]int, n)
	for i := range seats {
		seats[i] = i
	}
	src := rand.NewChaCha8(streamKey("seats", seed, uint64(league)))
	rand.New(src).Shuffle(n, func(i, j int) { seats[i], seats[j] = seats[j], seats[i] })
	return seats
}

// Key is the root of one player's randomness in one league. It can be sent to
// another process: its holder can compute that player's stream and no other.
type Key [2]uint64

// StrategyKey is the key of the randomness a strategy may use.
func StrategyKey(seed uint64, league, field int) Key {
	return keyFrom(streamKey("strategy", seed, uint64(league), uint64(field)))
}

// CoinKey is the key of the coin that the host throws for a player that answers with a probability.
func CoinKey(seed uint64, league, field int) Key {
	return keyFrom(streamKey("coin", seed, uint64(league), uint64(field)))
}

func keyFrom(b [32]byte) Key {
	return Key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:16])}
}

// Rand is a player's random stream, rekeyed for every call of its strategy, so
// that how much one match consumes never shifts the next. It is PCG-DXSM from
// math/rand/v2, and is for one goroutine at a time.
type Rand struct {
	pcg   rand.PCG
	key   Key
	at    uint64
	stale bool
}

// NewRand returns the stream of a key, positioned before the first match.
func NewRand(key Key) *Rand { return &Rand{key: key, stale: true} }

// Rekey moves the stream to a position: equal keys and positions give equal
// numbers. The host does this before every call; a strategy need not.
func (r *Rand) Rekey(position uint64) { r.at, r.stale = position, true }

// StartPosition is where a strategy's stream stands while its seat is made.
const StartPosition uint64 = 0

// ChoosePosition is where a strategy's stream stands while it chooses in a match, given by its
// index in the schedule. The caller of a strategy rekeys to this, to ObservePosition and to
// StartPosition before the call: the arena, a player agent, a process that seats run in. So all of
// them give a strategy the same numbers, whatever it consumed before.
func ChoosePosition(match uint64) uint64 { return 2*match + 1 }

// ObservePosition is where a strategy's stream stands while it observes how a match ended.
func ObservePosition(match uint64) uint64 { return 2*match + 2 }

// Uint64 returns 64 uniform bits. With the other methods it makes *Rand a math/rand/v2 Source.
func (r *Rand) Uint64() uint64 {
	if r.stale { // positions that draw nothing cost nothing
		r.pcg.Seed(mix(r.key[0]+r.at*0x9e3779b97f4a7c15), mix(r.key[1]^mix(r.at)))
		r.stale = false
	}
	return r.pcg.Uint64()
}

// Float64 returns a uniform number in [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// IntN returns a uniform number in [0, n), off by less than n/2^64 (see
// Draw.Pick). It panics if n < 1.
func (r *Rand) IntN(n int) int {
	if n < 1 {
		panic("game: IntN of a number below 1")
	}
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

// Bernoulli returns true with probability p.
func (r *Rand) Bernoulli(p float64) bool { return r.Float64() < p }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, variant 13 of Stafford):
// a bijection in which every input bit flips every output bit with a chance close to one half.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// LiveWord returns the word for the draw of one live match when a league is
// given a seed, to be given to Draw.Pick. A referee that runs alone knows its
// match by its id and not by its place in the schedule.
func LiveWord(seed uint64, league, match string) uint64 {
	key := streamKey("live/"+league+"/"+match, seed)
	return binary.BigEndian.Uint64(key[:8])
}

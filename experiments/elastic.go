package experiments

import "math/bits"

// Elastic is an optional extension of Driver, for one whose workers come and go while a
// run plays. Config.Workers is then the largest number of chunks in progress.
type Elastic interface {
	Driver
	// Next returns how large the next chunk should be, with this many leagues left, and
	// how many chunks should be in progress. Both are at least 1; Run never plays more
	// than Block leagues in a chunk. Only the goroutine of Run calls it.
	Next(left int) (leagues, chunks int)
}

// elasticMemory bounds the leagues, in bytes, that are played before an earlier one is:
// one chunk may take long, when its worker dies.
const elasticMemory = 256 << 20

// LeagueBytes returns the memory of a league that was played, roughly.
func LeagueBytes(players, legs int) int {
	const league, seat = 80, 8
	return league + seat*players + matchBytes*legs*players*(players-1)/2
}

// stretch returns the size of the next chunk and the number of chunks that should be in
// progress; false if that many are, or if too many leagues wait for an earlier one. Sizes
// are powers of two, because chunks end at multiples of their size.
func (r *run) stretch() (size, parallel int, ok bool) {
	size, parallel = r.elastic.Next(r.total - r.next)
	inProgress := cap(r.todo) - len(r.free) - len(r.ready)
	if inProgress >= max(1, parallel) || r.next-r.prefix.Leagues() > r.ahead {
		return 0, 0, false
	}
	size = max(1, min(size, r.size))
	return 1 << (bits.Len(uint(size)) - 1), max(1, parallel), true
}

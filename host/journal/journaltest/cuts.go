// Package journaltest is for tests that cut journals off, as a kill does.
package journaltest

import "bytes"

// Cuts returns sizes that the file of a journal can have after a kill, in bytes and in order: those
// at which every record begins, its end, and one inside every record; or every size.
func Cuts(journal []byte, every bool) []int {
	var cuts []int
	if every {
		for at := range len(journal) + 1 {
			cuts = append(cuts, at)
		}
		return cuts
	}
	for at := 0; at < len(journal); {
		size := bytes.IndexByte(journal[at:], '\n') + 1
		if size == 0 {
			size = len(journal) - at
		}
		cuts = append(cuts, at, at+size/2)
		at += size
	}
	return append(cuts, len(journal))
}

// Whole returns the complete records of a journal that was cut off.
func Whole(journal []byte) []byte { return journal[:bytes.LastIndexByte(journal, '\n')+1] }

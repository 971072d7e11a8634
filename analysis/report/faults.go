package report

import (
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
)

// longestFault is how much of a script's message is printed, its hint included.
const longestFault = 300

// faults says what each player's technical losses were. Commands are not broken, so
// that they can be pasted.
func (s *sheet) faults(r *Document) {
	for _, i := range r.Estimates.Order {
		for _, line := range words.Plain.Faults(&r.Estimates.Players[i], r.Folder, longestFault) {
			if strings.HasPrefix(line, "  strategylab ") {
				s.WriteString(line + "\n")
				continue
			}
			s.lines(line)
		}
	}
}

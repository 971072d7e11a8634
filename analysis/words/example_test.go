package words_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

func ExampleStyle() {
	share := analysis.Estimate{Estimate: 0.794, Low: 0.773, High: 0.815}
	fmt.Println(words.Plain.Share(share))
	fmt.Println(words.Plain.WithRange(analysis.Estimate{Estimate: 1.307, Low: 1.2991, High: 1.315}, 1, 3))
	fmt.Println(words.Plain.Plural(1234, "league"), "and", words.Plain.Plural(1, "pair of neighbours"))
	fmt.Println(words.Plain.Record(9, 4, 3, 2, 15))
	fmt.Println(words.Plain.Places([2]int{2, 5}), words.Typeset.Places([2]int{2, 5}))
	// Output:
	// 79.4 % (77.3 to 81.5)
	// 1.307 (1.299 to 1.315)
	// 1,234 leagues and 1 pair of neighbours
	// 9 matches: 4 won, 3 tied, 2 lost, 15 points
	// 2-5 2–5
}

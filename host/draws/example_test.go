package draws_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/draws"
)

// A referee commits to a key before the choices, and opens the commitment with the number.
func Example() {
	key := draws.NewKey()
	match := draws.Match{League: "cup", ID: "R1M1", Round: 1, Players: [2]draws.Player{{ID: "P01"}, {ID: "P02"}}}
	commitment, err := match.Commitment(key)
	if err != nil {
		fmt.Println(err)
		return
	}
	match.Players[0].Choice, match.Players[0].Nonce = "even", draws.NewNonce()
	match.Players[1].Choice, match.Players[1].Nonce = "odd", draws.NewNonce()
	number, err := match.Number(key)
	fmt.Println(err, match.Verify(commitment, key, number))
	fmt.Println(match.Verify(commitment, draws.NewKey(), number))
	// Output:
	// <nil> <nil>
	// the revealed key is not the one committed to for this match
}

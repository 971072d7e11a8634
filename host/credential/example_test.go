package credential_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/credential"
)

// The manager keeps a verifier instead of a player's token. From it a referee
// is given the keys of one match; the player derives the same from its token.
func ExampleVerifier_MatchKeys() {
	const token = "tok-P01-0123456789abcdef0123456789abcdef01234567"
	verifier := credential.NewVerifier(token)
	keys := verifier.MatchKeys("autumn_cup", "R1M1", "REF01")
	fmt.Println(credential.Mask(token), verifier.Verify(token))
	fmt.Println(keys.Send)
	fmt.Println(keys.AcceptsPlayer(keys.Expect, "autumn_cup", "R1M1", "REF01"), keys.AcceptsPlayer(keys.Send, "autumn_cup", "R1M1", "REF01"))
	// Output:
	// tok-P01-*** true
	// d2f1caef6c197a6a611b1ebdd8a519605d9b42302404e78d6a9905df56a42918
	// true false
}

package dialect

import "github.com/strategylab/strategylab/host/protocol"

// FindBeginning reads what an answer to START_LEAGUE, or the text of a refusal,
// says of the start of a league, in whatever wrapping and words.
func FindBeginning(answer []byte) protocol.Beginning {
	if doc, _ := locate(answer); doc != nil {
		return protocol.BeginningIn(doc)
	}
	return protocol.ReadBeginning(string(answer))
}

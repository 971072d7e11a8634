package protocol

// Mode says how much a receiver asks of a message.
type Mode uint8

const (
	// Strict asks for everything that the protocol calls required.
	Strict Mode = iota
	// Tolerant asks only for what a message cannot do without, reads the names
	// that some programs give to fields, takes null and "" for a missing
	// optional field, and finds the message type by the method.
	Tolerant
)

// String returns "strict" or "tolerant".
func (m Mode) String() string {
	if m == Tolerant {
		return "tolerant"
	}
	return "strict"
}

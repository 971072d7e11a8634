package script

import "strings"

// AnswerHint says what is behind an invalid choice, if that is known. kind is "text",
// "boolean", "nothing", "function" or another; text is the answer if it is a text.
func AnswerHint(kind, text string) string {
	switch kind {
	case "text":
		if s := strings.ToLower(strings.TrimSpace(text)); s == "even" || s == "odd" {
			return "use lower case without spaces"
		}
	case "boolean":
		return "true and false are no choices"
	case "nothing":
		return "does choose return on every path?"
	case "function":
		return "did you forget to call it?"
	}
	return ""
}

// Words returns the values of an enumeration up to the last in a language, in which word makes a
// value of a name; that of the first, which is none, is empty.
func Words[E interface {
	~uint8
	String() string
}, V any](last E, word func(name string) V) (words []V) {
	for e := E(0); e <= last; e++ {
		words = append(words, word(e.String()))
	}
	return words
}

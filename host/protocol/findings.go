package protocol

import (
	"slices"
	"strconv"
)

type finding struct {
	Violation
	code Code
}

// maxFindings limits the violations of a refusal: a message of a megabyte can
// hold a hundred thousand.
const maxFindings = 32

// found records that the value being checked breaks a rule.
func (c *checker) found(rule string, code Code) {
	full := len(c.findings) == maxFindings
	sooner := c.findings == nil || slices.Index(codeOrder, code) < slices.Index(codeOrder, c.first.code)
	if full {
		c.more++
	}
	if full && !sooner {
		return // without the cost of a path
	}
	f := finding{Violation{c.pointer(), rule}, code}
	if sooner {
		c.first = f
	}
	if !full {
		c.findings = append(c.findings, f)
	}
}

func (c *checker) foundIn(name, rule string, code Code) {
	c.enter(name)
	c.found(rule, code)
	c.leave()
}

// codeOrder ranks the codes of field rules: the first of them that a message
// earns is the one it is refused with.
var codeOrder = []Code{
	CodeMissingField, CodeInvalidFieldType, CodeVersionMismatch, CodeInvalidTimestamp, CodeContextMismatch,
	CodeInvalidParityChoice, CodeInvalidQueryType,
}

// refusal makes one Error of the findings; nil without any.
func (c *checker) refusal(t Type) *Error {
	if len(c.findings) == 0 {
		return nil
	}
	e := Refuse(c.first.code, t, sentence(c.first, len(c.findings)+c.more))
	for _, f := range c.findings {
		e.Violations = append(e.Violations, f.Violation)
	}
	e.Violations = Tidy(e.Violations)
	return e
}

// advice completes the detail of a refusal for each rule.
var advice = map[string]string{
	"required": "is missing",
	"type":     "has the wrong JSON type",
	"length":   "may not be empty",
	"id":       "is no identifier: 1 to 64 letters, digits, '_', '.' or '-', the first a letter or digit",
	"time":     "is no ISO 8601 time in UTC ending in Z or +00:00",
	"sender":   "is no sender that may sign this message",
	"version":  "is not " + Version,
	"enum":     "is none of the values that are allowed here",
	"range":    "is no whole number in the range that is allowed here",
}

func sentence(f finding, all int) string {
	s := "The field " + f.Path + " " + advice[f.Rule] + "."
	if all > 1 {
		s += " It is one of " + strconv.Itoa(all) + " things that are wrong; see violations."
	}
	return s
}

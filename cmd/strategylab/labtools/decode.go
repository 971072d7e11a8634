package labtools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
)

// decode reads the input of a tool, which keeps the tool's schema, and puts the
// defaults of the schema where a property is absent.
func decode[T any](raw json.RawMessage, limits map[string]int) (T, error) {
	var in T
	v := reflect.ValueOf(&in).Elem()
	for _, f := range fieldsOf(v.Type()) {
		text := f.standard(limits)
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), v.Field(f.index).Addr().Interface()); err != nil {
			return in, fmt.Errorf("the default of %s: %w", f.name, err)
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, mistake("the input cannot be read: %w", err)
	}
	return in, nil
}

// InputError is a mistake in what a tool was given.
type InputError struct{ err error }

// Error says what is wrong, and what to do.
func (e *InputError) Error() string { return e.err.Error() }

// Unwrap returns the mistake.
func (e *InputError) Unwrap() error { return e.err }

func mistake(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// The patterns of texts that become file names. The tags of inputs repeat them
// for the schemas; what opens a file asks here again.
const (
	namePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`
	idPattern   = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`
)

func isName(text string) bool { return regexp.MustCompile(namePattern).MatchString(text) }
func isID(text string) bool   { return regexp.MustCompile(idPattern).MatchString(text) }

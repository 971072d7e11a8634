package report

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
)

// ParseRatio reads a sequential test as users write it: new=x,old=y,delta=0.01, and alpha and beta
// unless they are 0.05.
func ParseRatio(s string) (results.Ratio, error) {
	r := results.Ratio{Alpha: 0.05, Beta: 0.05}
	values := map[string]any{"new": &r.New, "old": &r.Old, "delta": &r.Delta, "alpha": &r.Alpha, "beta": &r.Beta}
	for _, part := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(part, "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok {
			return r, fmt.Errorf("%q is not of the form name=value", part)
		}
		to, known := values[key]
		switch to := to.(type) {
		case *string:
			*to = value
		case *float64:
			var err error
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return r, fmt.Errorf("%s is %q, want a number", key, value)
			}
		default:
			if known {
				return r, fmt.Errorf("%s is given twice", key)
			}
			return r, fmt.Errorf("unknown key %q, want new, old, delta, alpha and beta", key)
		}
		values[key] = nil
	}
	switch {
	case r.New == "" || r.Old == "":
		return r, errors.New("new or old is missing: name the two strategies to compare")
	case r.New == r.Old:
		return r, fmt.Errorf("new and old are both %q; name two strategies", r.New)
	case values["delta"] != nil:
		return r, errors.New("delta is missing: how many adjusted points per match new has to be better")
	}
	return r, sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}.Validate()
}

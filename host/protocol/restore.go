package protocol

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// restore adds to an encoded message the nulls and empty strings that the
// message bore when it was decoded and that its Go fields cannot express. What
// has been given a value since stays as it is.
func restore(encoded, received jsontext.Value) (jsontext.Value, error) {
	switch {
	case encoded.Kind() == '{' && received.Kind() == '{':
		return restoreMembers(encoded, received)
	case encoded.Kind() == '[' && received.Kind() == '[':
		return restoreElements(encoded, received)
	}
	return encoded, nil
}

func restoreMembers(encoded, received jsontext.Value) (jsontext.Value, error) {
	now, err := rawjson.Split(encoded)
	if err != nil {
		return nil, err
	}
	before, err := rawjson.Split(received)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(now))
	for i, m := range now {
		place[m.Name] = i
	}
	for _, m := range before {
		i, here := place[m.Name]
		switch {
		case here:
			if now[i].Value, err = restore(now[i].Value, m.Value); err != nil {
				return nil, err
			}
		case m.Value.Kind() == 'n' || string(m.Value) == `""`:
			now = append(now, m)
		}
	}
	return now.Encode(), nil
}

func restoreElements(encoded, received jsontext.Value) (jsontext.Value, error) {
	now, before := rawjson.Elements(encoded), rawjson.Elements(received)
	if len(now) != len(before) {
		return encoded, nil
	}
	out := jsontext.Value{'['}
	for i := range now {
		element, err := restore(now[i], before[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return append(out, ']'), nil
}

package protocol

import "github.com/go-json-experiment/json/jsontext"

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
	now, err := splitDocument(encoded)
	if err != nil {
		return nil, err
	}
	before, err := splitDocument(received)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(now))
	for i, m := range now {
		place[m.name] = i
	}
	for _, m := range before {
		i, here := place[m.name]
		switch {
		case here:
			if now[i].value, err = restore(now[i].value, m.value); err != nil {
				return nil, err
			}
		case m.value.Kind() == 'n' || string(m.value) == `""`:
			now = append(now, m)
		}
	}
	return now.encode(), nil
}

func restoreElements(encoded, received jsontext.Value) (jsontext.Value, error) {
	now, before := splitElements(encoded), splitElements(received)
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

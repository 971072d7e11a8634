package protocol

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A plainField is a field of a message that is written and read without reflection: most
// messages have nothing but texts and truth values.
type plainField struct {
	name   string
	kind   reflect.Kind // String, Bool for Opt[bool], Int for Round, or Pointer
	goType reflect.Type
	offset uintptr
}

// plainFields returns the own fields of a message or those of a header; nil where one of
// them is of none of these kinds.
func plainFields(t reflect.Type) []plainField {
	fields := []plainField{}
	for i := range t.NumField() {
		f := t.Field(i)
		p := plainField{jsonName(f), f.Type.Kind(), f.Type, f.Offset}
		switch {
		case p.name == "":
			continue
		case f.Type == reflect.TypeFor[Opt[bool]]():
			p.kind = reflect.Bool
		case f.Type == reflect.TypeFor[Round]():
			p.kind = reflect.Int
		case p.kind != reflect.String && p.kind != reflect.Pointer:
			return nil
		}
		fields = append(fields, p)
	}
	return fields
}

// A memberWriter appends members of an object, each with a comma before it, until one
// of them cannot be encoded. Zero values are left out.
type memberWriter struct {
	dst []byte
	err error // names the member
}

func (w *memberWriter) header(h *Header) { w.members(unsafe.Pointer(h), headerFields()) }

// members writes the fields of the struct that is at a place.
func (w *memberWriter) members(of unsafe.Pointer, fields []plainField) {
	for i := range fields {
		f := &fields[i]
		switch at := unsafe.Add(of, f.offset); f.kind {
		case reflect.String:
			w.text(f.name, (*string)(at))
		case reflect.Bool:
			b := (*Opt[bool])(at)
			if b.is != present {
				w.value(f.name, b.is == absent, b)
				continue
			}
			w.name(f.name)
			w.dst = strconv.AppendBool(w.dst, b.value)
		case reflect.Int:
			r := (*Round)(at)
			if r.is != present || r.isText {
				w.value(f.name, r.is == absent, r)
				continue
			}
			w.name(f.name)
			w.dst = strconv.AppendInt(w.dst, int64(r.number), 10)
		default:
			w.value(f.name, *(*unsafe.Pointer)(at) == nil, reflect.NewAt(f.goType, at).Interface())
		}
	}
}

func (w *memberWriter) text(name string, s *string) {
	if *s == "" {
		return
	}
	w.name(name)
	dst, err := jsontext.AppendQuote(w.dst, *s)
	w.wrote(name, dst, err)
}

func (w *memberWriter) value(name string, absent bool, v any) {
	if absent {
		return
	}
	w.name(name)
	raw, err := json.Marshal(v, plain)
	w.wrote(name, append(w.dst, raw...), err)
}

// name appends a name that needs no escapes, and a colon.
func (w *memberWriter) name(name string) {
	w.dst = append(append(append(w.dst, ',', '"'), name...), '"', ':')
}

func (w *memberWriter) wrote(name string, dst []byte, err error) {
	w.dst = dst
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (w *memberWriter) object() (jsontext.Value, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case len(w.dst) == 0:
		return jsontext.Value("{}"), nil
	}
	w.dst[0] = '{'
	return append(w.dst, '}'), nil
}

// readPlain sets the members of a message without reflection. It reports whether they
// are all; if not, it does no harm that some of them are set.
func readPlain(m Message, fields []plainField, doc rawjson.Object) bool {
	set, of := 0, reflect.ValueOf(m).UnsafePointer()
	for i := range fields {
		f := &fields[i]
		switch v, at := doc.Get(f.name), unsafe.Add(of, f.offset); {
		case f.kind == reflect.String && v.Kind() == '"':
			*(*string)(at) = string(rawjson.Unquote(v))
			set++
		case f.kind == reflect.Bool && (v.Kind() == 't' || v.Kind() == 'f'):
			*(*Opt[bool])(at) = Some(v.Kind() == 't')
			set++
		}
	}
	return set == len(doc)
}

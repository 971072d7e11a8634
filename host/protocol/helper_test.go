package protocol

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/rawjson"
)

func parsed(t testing.TB, raw []byte) rawjson.Object {
	t.Helper()
	doc, err := rawjson.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return doc
}

// decodeText decodes a message from its text; request says that it is one.
func decodeText(typ Type, text []byte, mode Mode, request bool) (Message, error) {
	message, err := rawjson.Parse(text)
	if err != nil {
		return nil, err
	}
	if !request {
		return Decode(typ, message, mode, nil)
	}
	header := ReadHeader(message)
	return Decode(typ, message, mode, &header)
}

// codeOf returns the code of a refusal, "" for anything else.
func codeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// headerNames are the names of the fields of a header.
var headerNames = func() (names []string) {
	for _, f := range headerShape().fields {
		names = append(names, f.name)
	}
	return names
}()

// The league that the samples are taken from.
const (
	cup     = "autumn_cup"
	heron   = "P01"
	otter   = "P02"
	refOne  = "REF01"
	manager = "league_manager"
)

// sampleTime is the time of the first sample.
var sampleTime = time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC)

// sampleToken returns the token of an agent in the samples; its randomness is
// the agent's id over and over.
func sampleToken(agent string) string {
	token, err := credential.NewToken(strings.NewReader(strings.Repeat(agent, 20)), agent)
	if err != nil {
		panic(err) // the source above never runs dry
	}
	return token
}

// clock returns the time of day at which a sample was sent.
func clock(hhmmss string) string { return "2026-03-14T" + hhmmss + "Z" }

// header returns the header of a sample by the manager or to it.
func header(t Type, sender, hhmmss, conversation string) Header {
	h := NewHeader(t, sender, clock(hhmmss), conversation)
	h.LeagueID = cup
	return h
}

// sample is a message under the name that its example file bears.
type sample struct {
	name    string
	message Message
	answers bool // it is sent as an answer
}

// isVariant reports whether a sample shows another look of a type that has an example already.
func (s sample) isVariant() bool { return s.name != lower(s.message.Head().MessageType) }

// samples returns the messages of the example files of the documentation in the dialect
// Contracts: one of every type, and of some types the variants that look different. The
// tests of host/dialect hold the bytes of the files to what is written of them.
func samples(t testing.TB) []sample { return named(t, "*", len(Types())) }

// named returns the samples whose names match a pattern, at least so many.
func named(t testing.TB, pattern string, least int) (all []sample) {
	t.Helper()
	files, err := filepath.Glob("../../docs/protocol/examples/contracts/" + pattern + ".json")
	if err != nil || len(files) < least {
		t.Fatal("too few examples", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		text := jsontext.Value(raw)
		if err != nil || text.Compact() != nil {
			t.Fatal(file, err)
		}
		doc := parsed(t, text)
		s := sample{name: strings.TrimSuffix(filepath.Base(file), ".json"), answers: doc.Get("params") == nil}
		body := doc.Get("params", "result")
		if body == nil {
			body = parsed(t, doc.Get("error")).Get("data")
		}
		if s.message, err = decodeText(Type(parsed(t, body).Text("message_type")), body, Strict, !s.answers); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, s)
	}
	return all
}

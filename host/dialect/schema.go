package dialect

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// WrappingSchema returns the JSON Schema (draft 2020-12) of the documents of one of the
// dialects [OfProtocol]: the request, the response and the refusal, without what it carries.
func (d *Dialect) WrappingSchema() []byte {
	message := jsontext.Value(`{"message_type":""}`)
	call, answer, data := d.Wrap("", message), d.Answer.wrap(message, "", false), jsontext.Value(`{}`)
	if d.Answer.Header != "" {
		data = answer
	}
	documents := []string{
		schemaOf(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, call.Method, call.Params)),
		schemaOf(fmt.Appendf(nil, `{"jsonrpc":"2.0","result":%s,"id":null}`, answer)),
		schemaOf(fmt.Appendf(nil, `{"jsonrpc":"2.0","error":{"code":0,"message":"","data":%s},"id":null}`, data)),
	}
	if d.Request.Bare {
		documents = []string{schemaOf(message)}
	}
	return fmt.Appendf(nil, `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"%swrapping/%s.json","title":"Dialect %[2]s",`+
		`"description":"The documents of this dialect, without the message they carry: %s","oneOf":[%s]}`,
		protocol.SchemaBase, d.Name, d.Title, strings.Join(documents, ","))
}

// schemaOf returns the schema of documents that have the members of one. A text that is empty or
// holds JSON stands for any, and null for the id of a request.
func schemaOf(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		var properties rawjson.Object
		var required []string
		for _, m := range rawjson.Split(v) {
			properties = append(properties, rawjson.Member{Name: m.Name, Value: jsontext.Value(schemaOf(m.Value))})
			required = append(required, string(rawjson.Quote(m.Name)))
		}
		return fmt.Sprintf(`{"type":"object","properties":%s,"required":[%s]}`, properties.Encode(), strings.Join(required, ","))
	case '[':
		return `{"type":"array","minItems":1,"items":` + schemaOf(rawjson.Elements(v)[0]) + `}`
	case 'f':
		return `{"type":"boolean"}`
	case '0':
		return `{"type":"integer"}`
	case 'n':
		return `{"description":"The id of the request with its type kept; null where it had none.","type":["string","number","null"]}`
	}
	if text := rawjson.Text(v); len(text) == 0 || text[0] == '{' {
		return `{"type":"string"}`
	}
	return `{"const":` + string(v) + `}`
}

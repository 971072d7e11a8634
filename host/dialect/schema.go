package dialect

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// The parts of the schemas of documents, in the order in which they are put together.
const (
	messageSchema  = `{"description":"The message.","type":"object","required":["message_type"]}`
	documentSchema = `{"type":"object","properties":{"jsonrpc":{"const":"2.0"},%s,"id":{"description":"%s","type":[%s]}},"required":["jsonrpc",%s],"not":%s}`
	errorSchema    = `"error":{"type":"object","properties":{"code":{"type":"integer"},"message":{"type":"string"},"data":%s},"required":["code","message"]}`
	nameSchema     = `{"description":"%s","type":"string","minLength":1}`
	contentSchema  = `"content":{"description":"The message as text.","type":"array","minItems":1,"items":` +
		`{"type":"object","properties":{"type":{"const":"text"},"text":{"type":"string"}},"required":["type","text"]}}`
	splitSchema = `"split":{"type":"object","properties":{"%s":{"description":"The header fields.","type":"object","required":["protocol","message_type"]},` +
		`"%s":{"description":"The other fields.","type":"object"}},"required":["%[1]s"]},`
)

// WrappingSchema returns the JSON Schema (draft 2020-12) of the documents of one of the
// dialects [OfProtocol]: the request, the response and the refusal, without what it carries.
func (d *Dialect) WrappingSchema() []byte {
	parts := []string{"request", "response", "refusal"}
	if d.Request.Bare {
		parts = []string{"message"}
	}
	return fmt.Appendf(nil, `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"%swrapping/%s.json","title":"Dialect %[2]s",`+
		`"description":"The documents of this dialect, without the message they carry.","oneOf":[{"$ref":"#/$defs/%s"}],"$defs":{%s}}`,
		protocol.SchemaBase, d.Name, strings.Join(parts, `"},{"$ref":"#/$defs/`), d.documents())
}

func (d *Dialect) documents() string {
	if d.Request.Bare {
		return `"message":` + strings.TrimSuffix(messageSchema, "}") + `,"not":{"required":["jsonrpc"]}}`
	}
	split, method, data := "", fmt.Sprintf(nameSchema, "The method of the message."), `{"type":"object"}`
	if h := d.Request.Header; h != "" {
		split, data = fmt.Sprintf(splitSchema, h, d.Request.Message), `{"$ref":"#/$defs/split"}`
	}
	if d.Request.Method != "" {
		method = `{"const":"` + d.Request.Method + `"}`
	}
	const kept = "Echoed with its type kept."
	request := fmt.Sprintf(documentSchema, `"method":`+method+`,"params":`+d.Request.schema(`{"description":"The message.","type":"object"}`, "The method of the message."),
		kept, `"string","number"`, `"method","params"`, `{"anyOf":[{"required":["result"]},{"required":["error"]}]}`)
	response := fmt.Sprintf(documentSchema, `"result":`+d.Answer.schema(messageSchema, "The tool that was called."),
		kept, `"string","number"`, `"result","id"`, `{"required":["error"]}`)
	refusal := fmt.Sprintf(documentSchema, fmt.Sprintf(errorSchema, data),
		"The id of the request; null where it had none.", `"string","number","null"`, `"error","id"`, `{"required":["result"]}`)
	return split + `"request":` + request + `,"response":` + response + `,"refusal":` + refusal
}

// schema returns the schema of params or of a result, which hold a message and the name of a tool.
func (p Place) schema(message, name string) string {
	switch {
	case p.Header != "":
		return `{"$ref":"#/$defs/split"}`
	case p.Message == "":
		return messageSchema
	case p.Content:
		return fmt.Sprintf(`{"description":"A tool result; a refusal has isError set.","type":"object","properties":{%s,"%s":%s,"isError":{"type":"boolean"}},`+
			`"required":["content","%[2]s"]}`, contentSchema, p.Message, message)
	}
	doc := fmt.Sprintf(`{"type":"object","properties":{"%s":%s,"%s":%s},"required":["%[1]s"`, p.Name, fmt.Sprintf(nameSchema, name), p.Message, message)
	for _, other := range []Place{Tool.Request, ToolIO.Request} {
		if p.Method != "" && other.Name != p.Name { // a request has one form at a time
			return doc + fmt.Sprintf(`],"not":{"anyOf":[{"required":["%s"]},{"required":["%s"]}]}}`, other.Name, other.Message)
		}
	}
	return doc + `,"` + p.Message + `"]}`
}

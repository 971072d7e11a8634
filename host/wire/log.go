package wire

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// log adds the outcome of a request to the log.
func (p *Pipeline) log(x *Exchange, began time.Time) {
	if p.cfg.Log == nil {
		return
	}
	if x.mcp && unanswered(x) != nil {
		return // the server refuses it, and Refuse logs that
	}
	if x.failure == nil {
		x.answered()
	}
	p.append(x, x.RPC.Method, began)
}

// answered sets status and failure from the response, for a request that the
// pipeline has not refused.
func (x *Exchange) answered() {
	res := &x.response
	x.status = res.Status
	if x.status == 0 {
		x.status = http.StatusOK
		if res.Body == nil && res.Error == nil && (x.RPC.Kind == jsonrpc.KindNotification || res.Result == nil) {
			x.status = http.StatusAccepted
		}
	}
	switch {
	case x.refusal != nil:
		form := x.refusal.Form()
		x.failure = failure(form.RPC, form.Message, x.refusal)
	case res.Body == nil && res.Error != nil:
		x.failure = failure(res.Error.Code, res.Error.Message, nil)
	}
}

// failure returns the error object for the log. It leaves out the data of an
// error, which may hold anything, but for the codes and violations of a refusal.
func failure(code int, message string, refusal *protocol.Error) jsontext.Value {
	e := dialect.RPCError{Code: code, Message: message}
	if refusal != nil && (refusal.Code != "" || refusal.Canonical != "") {
		data, err := json.Marshal(struct {
			Canonical  string               `json:"canonical,omitzero"`
			ErrorCode  protocol.Code        `json:"error_code,omitzero"`
			Violations []protocol.Violation `json:"violations,omitzero"`
		}{refusal.Canonical, refusal.Code, refusal.Violations})
		if err == nil {
			e.Data = data
		}
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return raw
}

// append adds a record to the log. A zero time means that the request was refused
// before it was handled.
func (p *Pipeline) append(x *Exchange, method string, began time.Time) {
	var took time.Duration
	if !began.IsZero() {
		took = p.cfg.Now().Sub(began)
	}
	p.cfg.Log.Append(eventlog.Record{
		Request: x.RPC.ID, Conversation: x.conversation(), Transport: string(x.RPC.Transport), Route: x.RPC.Route,
		Method: method, Status: x.status, Duration: took, Error: x.failure,
	})
}

// methodOf returns the method of a refused document, empty if it has none.
func methodOf(raw jsontext.Value) string {
	doc, _ := rawjson.Parse(raw) // of what is no object there is no method
	return doc.Text("method")
}

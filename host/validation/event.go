package validation

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/validation/eventlog"
	"github.com/strategylab/strategylab/host/wire"
)

// event is what is logged of one request.
type event struct {
	transport    jsonrpc.Transport
	route        string
	method       string
	id           jsontext.Value
	conversation string
	status       int
	failure      jsontext.Value // nil if all is well
	skip         bool           // it is not to be logged
}

// refused notes that the pipeline refused the request.
func (e *event) refused(r *Refusal) {
	e.status, e.failure = r.status(), r.Payload()
}

// refusedBy notes that the request was answered by an error. Its data may say
// anything, and is not logged; its league or canonical code is.
func (e *event) refusedBy(err *jsonrpc.Error) {
	e.fail(err.Code, err.Message, nil)
}

// refusedByLeague notes a refusal of the league.
func (e *event) refusedByLeague(err *protocol.Error) {
	e.fail(err.RPCCode(), err.RPCMessage(), err)
}

// fail notes an error. The refusal, if there is one, adds what is fit for a log.
func (e *event) fail(code int, message string, refusal *protocol.Error) {
	failure := protocol.RPCError{Code: code, Message: message}
	if refusal != nil && (refusal.Code != "" || refusal.Canonical != "") {
		data, err := json.Marshal(struct {
			Canonical  string               `json:"canonical,omitzero"`
			ErrorCode  protocol.Code        `json:"error_code,omitzero"`
			Violations []protocol.Violation `json:"violations,omitzero"`
		}{refusal.Canonical, refusal.Code, refusal.Violations})
		if err == nil {
			failure.Data = data
		}
	}
	if raw, err := json.Marshal(failure); err == nil {
		e.failure = raw
	}
}

// answered notes what a request was answered with, if it was not refused by the
// pipeline.
func (e *event) answered(req *jsonrpc.Request, x *wire.Notes, res jsonrpc.Response) {
	if e.failure != nil {
		return
	}
	e.status = res.Status
	if e.status == 0 {
		e.status = http.StatusOK
		if res.Body == nil && res.Error == nil && (req.Kind == jsonrpc.KindNotification || res.Result == nil) {
			e.status = http.StatusAccepted
		}
	}
	switch {
	case x.Refusal != nil:
		e.refusedByLeague(x.Refusal)
	case res.Body == nil && res.Error != nil:
		e.refusedBy(res.Error)
	}
}

// record writes the event to the log, if there is one. A zero time stands for a
// request that was refused before it could be handled.
func (p *Pipeline) record(e *event, began time.Time) {
	if p.cfg.Log == nil || e.skip {
		return
	}
	var took time.Duration
	if !began.IsZero() {
		took = p.cfg.Now().Sub(began)
	}
	p.cfg.Log.Append(eventlog.Record{
		Request: e.id, Conversation: e.conversation, Transport: string(e.transport), Route: e.route,
		Method: e.method, Status: e.status, Duration: took, Error: e.failure,
	})
}

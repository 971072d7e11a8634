package manager

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// StartPath is the path at which some launchers start a league, by a POST of
// nothing, of {}, or of a league id.
const StartPath = "/start_league"

// maxLaunch is the longest body that is read there, in bytes.
const maxLaunch = 64 << 10

// StartHandler serves StartPath: a POST there is START_LEAGUE in another form.
// Who may start the league that way, and when it can be started, is the same;
// what a launcher there does not say is not missed in strict mode either. It
// answers with LEAGUE_STATUS, or with a LEAGUE_ERROR and an HTTP status that
// says as much: 401 without a token, 403 with a wrong one, 409 for a league
// that cannot start.
func (m *Manager) StartHandler() http.Handler {
	launcher := &wire.Dispatcher{
		// A launcher of such a league knows no other wrapping.
		Codec:        dialect.NewCodec(protocol.Tolerant, dialect.Contracts),
		Sender:       m.dispatcher.Sender,
		Now:          m.cfg.Now,
		Answered:     m.answered,
		Authenticate: m.authenticateLauncher,
		Handlers:     map[protocol.Type]wire.Handler{protocol.TypeStartLeague: m.startLeague},
		Log:          m.cfg.Log,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, status, refusal := readLaunch(w, r)
		if refusal != "" {
			writeLaunch(w, status, detail(refusal))
			return
		}
		answer := launcher.Handle(r.Context(), &jsonrpc.Request{
			Kind: jsonrpc.KindCall, Method: "start_league", Params: body, ID: jsontext.Value(`""`), Raw: body,
			Transport: jsonrpc.TransportHTTP, Route: r.URL.Path, RemoteAddr: r.RemoteAddr, Host: r.Host, Header: r.Header,
		})
		if answer.Error == nil {
			writeLaunch(w, http.StatusOK, answer.Result)
			return
		}
		told := answer.Error.Data
		if told == nil {
			told = detail(answer.Error.Message)
		}
		writeLaunch(w, launchStatus(answer), told)
	})
}

// authenticateLauncher authenticates a request to the path. Its sender may be missing.
func (m *Manager) authenticateLauncher(ctx context.Context, in *wire.Exchange) error {
	if in.Header.Sender == "" {
		in.Header.Sender = string(protocol.RoleLauncher)
	}
	return m.authenticate(ctx, in)
}

// readLaunch reads what is posted to StartPath, or says what is wrong with it.
func readLaunch(w http.ResponseWriter, r *http.Request) (body jsontext.Value, status int, refusal string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, http.StatusMethodNotAllowed, "A league is started by POST."
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLaunch))
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid one counts as missing
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLong:
		return nil, http.StatusRequestEntityTooLarge, "The body is too long."
	case err != nil:
		return nil, http.StatusBadRequest, "The body could not be read."
	case len(raw) == 0:
		return jsontext.Value("{}"), 0, ""
	case media != "application/json":
		return nil, http.StatusUnsupportedMediaType, "Content-Type must be application/json."
	}
	body = raw
	if !body.IsValid() || body.Kind() != '{' {
		return nil, http.StatusBadRequest, "The body is not a JSON object; {} will do."
	}
	return body, 0, ""
}

// launchStatus is the HTTP status of a refusal.
func launchStatus(answer jsonrpc.Response) int {
	var told struct {
		Code protocol.Code `json:"error_code"`
	}
	_ = json.Unmarshal(answer.Error.Data, &told) // a refusal of JSON-RPC has none
	switch told.Code {
	case protocol.CodeTokenMissing:
		return http.StatusUnauthorized
	case protocol.CodeTokenInvalid:
		return http.StatusForbidden
	case protocol.CodeLeagueNotFound:
		return http.StatusNotFound
	case protocol.CodeInvalidState, protocol.CodeLeagueAlreadyComplete:
		return http.StatusConflict
	case protocol.CodeRateLimited:
		return http.StatusServiceUnavailable
	case protocol.CodeInternalError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// detail says in JSON what is wrong with a request that is no message.
func detail(text string) jsontext.Value {
	raw, _ := json.Marshal(map[string]string{"detail": text}) // text is a literal
	return raw
}

// writeLaunch sends an answer. That the launcher is gone shows at its side.
func writeLaunch(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

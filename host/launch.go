package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// startPath is the path at which some launchers start a league, by a POST of
// nothing, of {}, or of a league id.
const startPath = "/start_league"

// maxLaunch is the longest body that is read there, in bytes.
const maxLaunch = 64 << 10

// launching serves startPath: a POST there is START_LEAGUE in another form.
// Who may start the league that way, and when it can be started, is the same;
// what a launcher there does not say is not missed in strict mode either. It
// answers with LEAGUE_STATUS, or with a LEAGUE_ERROR and an HTTP status that
// says as much: 401 without a token, 403 with a wrong one, 409 for a league
// that cannot start.
func launching(launcher jsonrpc.Handler) http.Handler {
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
		var told struct {
			Code protocol.Code `json:"error_code"`
		}
		switch {
		case answer.Error == nil:
			writeLaunch(w, http.StatusOK, answer.Result)
		case json.Unmarshal(answer.Error.Data, &told) != nil: // a refusal of JSON-RPC has none
			writeLaunch(w, http.StatusBadRequest, detail(answer.Error.Message))
		default:
			writeLaunch(w, cmp.Or(launchStatus()[told.Code], http.StatusBadRequest), answer.Error.Data)
		}
	})
}

// readLaunch reads what is posted to startPath, or says what is wrong with it.
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

// launchStatus returns the HTTP statuses of refusals.
func launchStatus() map[protocol.Code]int {
	return map[protocol.Code]int{
		protocol.CodeTokenMissing: http.StatusUnauthorized, protocol.CodeTokenInvalid: http.StatusForbidden,
		protocol.CodeLeagueNotFound: http.StatusNotFound, protocol.CodeRateLimited: http.StatusServiceUnavailable,
		protocol.CodeInvalidState: http.StatusConflict, protocol.CodeLeagueAlreadyComplete: http.StatusConflict,
		protocol.CodeInternalError: http.StatusInternalServerError,
	}
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

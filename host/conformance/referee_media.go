package conformance

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/trace"
)

// mislabeled is a message that came under another Content-Type than JSON.
type mislabeled struct {
	*trace.Exchange
	who   int
	media string
}

// label takes note of a message that is not labelled as JSON.
func (s *refereeSide) label(who int, in *trace.Exchange, h http.Header) {
	given := h.Get("Content-Type")
	media, params, err := mime.ParseMediaType(given)
	if charset, named := params["charset"]; err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8")) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notJSON = append(s.notJSON, &mislabeled{in, who, given})
}

func labelsJSON(p refereeT) {
	p.scene("win")
	p.mu.Lock()
	odd := slices.Clone(p.notJSON)
	p.mu.Unlock()
	if len(odd) > 0 {
		p.saw("the referee to "+whoIs(odd[0].who), odd[0].Raw)
		p.Fail("the Content-Type of %s to %s is %q", odd[0].Type, whoIs(odd[0].who), odd[0].media)
	}
}

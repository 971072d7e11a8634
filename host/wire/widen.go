package wire

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Some programs name in their refusal a member that they miss. Then the message
// goes with it, if it has a value for it under another name.

// mostAdded limits how many members a ladder adds.
const mostAdded = 6

var (
	// misses are the phrases by which functions and validators name what they miss:
	// "missing 2 required positional arguments: 'a' and 'b'", "missing fields: a, b".
	misses = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)missing (?:\d+ )?(?:required |mandatory )?(?:[a-z-]+ )?(?:arguments?|fields?|parameters?|params?|keys?|property|properties)\b[:\s]*(.*)`)
	})
	// requires are those that name it first: "body.params.league: Field required".
	requires = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)['"]?([a-z_][\w.]*)['"]?:?\s+(?:field required|field is required|is required|is a required (?:property|field))`)
	})
	// absent is the text of a failed look-up in a dictionary, which is its key.
	absent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:KeyError\W*)?'([A-Za-z_]\w*)'$`) })
	names  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*`) })
	quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"\x60]([A-Za-z_]\w*)['"\x60]`) })
)

// missing returns the names of members that a refusal misses.
func missing(text string) []string {
	text = strings.TrimSpace(text)
	if found := absent().FindStringSubmatch(text); found != nil {
		return found[1:]
	}
	var all []string
	for finding := range strings.SplitSeq(text, ";") {
		for _, found := range requires().FindAllStringSubmatch(finding, mostAdded) {
			steps := strings.Split(found[1], ".")
			all = append(all, steps[len(steps)-1])
		}
		if found := misses().FindStringSubmatch(finding); found != nil {
			if in := quoted().FindAllStringSubmatch(found[1], mostAdded); in != nil {
				for _, name := range in {
					all = append(all, name[1])
				}
				continue
			}
			all = append(all, names().FindAllString(found[1], mostAdded)...)
		}
	}
	return all
}

// wider returns the way with the members that the refusal misses and the message
// has something for; false where that changes nothing.
func (w Way) wider(m protocol.Message, err error) (Way, bool) {
	all := missing(Words(err))
	if len(all) == 0 {
		return w, false
	}
	whole, failed := protocol.Encode(m)
	if failed != nil {
		return w, false
	}
	before, failed := w.fields(m, whole)
	if failed != nil {
		return w, false
	}
	w.Add = slices.Clone(w.Add)
	for _, name := range all {
		if !slices.Contains(w.Add, name) {
			w.Add = append(w.Add, name)
		}
	}
	after, failed := w.fields(m, whole)
	return w, failed == nil && len(w.Add) <= mostAdded && !rawjson.Equal(before, after)
}

package catalog

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/strategies"
)

// refused returns why plugins do not start, since a name that is not found may be that of a
// strategy of one.
func (c *Catalog) refused() (why []error) {
	for _, e := range c.entries {
		if e.Info.Kind == strategies.Plugin && e.broken != nil {
			why = append(why, e.broken)
		}
	}
	return why
}

// some writes the first of several texts, and how many more there are.
func some(texts []string, most int) string {
	if more := len(texts) - most; more > 1 {
		texts = append(texts[:most:most], fmt.Sprintf("%d more", more))
	}
	last := len(texts) - 1
	if last <= 0 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// noteUsage says what the processes of plugins and isolated scripts have taken,
// and how they have fared.
func (e *experimentRun) noteUsage(factories []strategies.Factory) {
	seen := make(map[any]bool)
	for _, f := range factories {
		m, ok := f.(plugins.Metered)
		if !ok {
			continue
		}
		u := m.Usage()
		var who any = f // several players may be copies of one script
		if f.Info().Kind == strategies.Plugin {
			who = u.Process // and several strategies may be one plugin's
		}
		if u.Starts > 0 && !seen[who] {
			e.note("%s", usageOf(f.Info(), u))
		}
		seen[who] = true
	}
}

// usageOf says in one line what there is to say of the processes of a strategy.
func usageOf(info strategies.Info, u plugins.Usage) string {
	name := info.Name
	if info.Kind == strategies.Plugin {
		name = "plugin " + u.Process
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, in a process of its own: %v of processor time", name, u.CPU.Round(time.Millisecond))
	switch {
	case u.Failed == 1:
		b.WriteString(", failed once")
	case u.Failed > 1:
		fmt.Fprintf(&b, ", failed %d times", u.Failed)
	}
	if u.Starts > 1 {
		fmt.Fprintf(&b, ", started %d times", u.Starts)
	}
	if u.Aside {
		b.WriteString(", put aside")
	}
	return b.String()
}

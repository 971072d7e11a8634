package cluster

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes workers and runs as tables, as they are at a time.
func (s Survey) WriteText(w io.Writer, now time.Time) error {
	if len(s.Workers) == 0 {
		fmt.Fprintln(w, "no workers")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Workers) > 0 {
		fmt.Fprintln(t, "worker\tcores\tchunks\tleagues\tper second\theard\tversion")
	}
	for _, x := range s.Workers {
		fmt.Fprintf(t, "%s (%s)\t%d\t%d\t%d\t%.0f\t%v ago\t%s\n", x.Name, x.ID, x.Cores, x.InFlight, x.Leagues, x.Rate,
			now.Sub(x.Heard).Round(100*time.Millisecond), shortVersion(x.Version))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Workers {
		for _, run := range slices.Sorted(maps.Keys(x.Refuses)) {
			fmt.Fprintf(w, "%s (%s) cannot play run %s: %s\n", x.Name, x.ID, run, x.Refuses[run])
		}
	}
	if len(s.Runs) == 0 {
		fmt.Fprintln(w, "no runs")
		return nil
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\tleagues\tper second\tleft\twaiting\tin flight\tredelivered\tfailed")
	for _, x := range s.Runs {
		left := "?"
		if d := x.Left(); d > 0 {
			left = d.Round(time.Second).String()
		}
		if x.Abandoned {
			fmt.Fprintf(t, "%s\t?/%d\tno experiment plays it\n", x.Run, x.Of)
			continue
		}
		fmt.Fprintf(t, "%s\t%d/%d\t%.0f\t%s\t%d\t%d\t%d\t%d\n", x.Run, x.Leagues, x.Of, x.Rate, left, x.Waiting, x.InFlight, x.Redelivered, x.Failed)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Runs {
		if x.Abandoned {
			fmt.Fprintf(w, "to continue a run that no experiment plays: strategylab experiment --resume %s --cluster URL; to remove it: strategylab cluster remove %s\n", x.Run, x.Run)
			break
		}
	}
	return nil
}

// shortVersion returns the first part of a version.
func shortVersion(text string) string {
	version, rest, _ := strings.Cut(text, ", ")
	revision, _, _ := strings.Cut(rest, ", ")
	if word, ok := strings.CutPrefix(revision, "revision "); ok && !strings.HasPrefix(word, "unknown") {
		version += " " + word[:min(8, len(word))]
	}
	return version
}

package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	p := &Progress{columns: 60, total: 1000, from: 200}
	got := p.line(600, 2*time.Second)
	if !strings.HasSuffix(got, " 600/1000 leagues  200/s  2s left") {
		t.Errorf("%q does not count from the 200 leagues recorded before", got)
	}
	for _, columns := range []int{20, 30, 40, 60, 80, 200} {
		p := &Progress{columns: columns, total: 1000}
		for _, done := range []int{0, 1, 999, 1000} {
			if line := p.line(done, time.Second); len(line) != columns-1 {
				t.Errorf("%d columns, %d leagues: %d characters: %q", columns, done, len(line), line)
			}
		}
	}
}

func TestProgressIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := StartProgress(&out, 60, time.Now, 0, 10)
		time.Sleep(time.Second) // the fake clock of the bubble
		_ = p.Append(nil)
		time.Sleep(time.Second)
		p.Stop()
		text := out.String()
		if !strings.Contains(text, " 0/10 leagues") || !strings.Contains(text, " 1/10 leagues  1/s  18s left") {
			t.Errorf("drawn: %q", text)
		}
		if !strings.HasSuffix(text, "\r"+strings.Repeat(" ", 59)+"\r") {
			t.Errorf("the bar was left behind: %q", text)
		}
	})
}

func TestProgressDrawsNothingWithoutTerminal(t *testing.T) {
	t.Parallel()
	p := StartProgress(nil, 80, time.Now, 0, 10)
	if err := p.Append(nil); err != nil {
		t.Fatal(err)
	}
	p.Stop()
}

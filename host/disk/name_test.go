package disk_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/disk"
)

func TestFileName(t *testing.T) {
	seen := make(map[string]string)
	for text, want := range map[string]string{
		"P01": "P01", "a.b-c_d": "a.b-c_d", ".": "%2E", "..": "%2E%2E", "a.": "a%2E", "con.LUA": "%63on.LUA", "Lpt1": "%4Cpt1", "com10": "com10", "console": "console", ".4": "%2E4", "team/3": "team%2F3", `a\b`: "a%5Cb", "Zoë 7": "Zo%C3%AB%207", "%2E": "%252E",
		strings.Repeat("é", 128): "", strings.Repeat("é", 127) + "e": "",
	} {
		got := disk.FileName(text)
		if want != "" && got != want || !filepath.IsLocal(got) || filepath.Base(got) != got || len(got) > 255 || seen[got] != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		seen[got] = text
	}
}

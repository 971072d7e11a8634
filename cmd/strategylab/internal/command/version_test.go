package command

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-22T12:00:00Z"}}
	system := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "amd64"}}
	for want, info := range map[string]*debug.BuildInfo{
		"version unknown (built without module information)":                  nil,
		"(devel), revision unknown (built without version control), go1.26.0": {GoVersion: "go1.26.0"},
		"v1.2.3, revision 0123456789abcdef of 2026-11-22T12:00:00Z, go1.26.0 linux/amd64": {
			GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}, Settings: append(vcs, system...),
		},
		"(devel), revision 0123456789abcdef of 2026-11-22T12:00:00Z, modified, go1.26.0": {
			GoVersion: "go1.26.0", Settings: append(vcs[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
		},
	} {
		if got := Version(info); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

package command

import (
	"cmp"
	"runtime/debug"
)

// Version describes the build of the program in one line: version, revision, whether the
// source differed from it, and how it was built. info may be nil.
func Version(info *debug.BuildInfo) string {
	if info == nil {
		return "version unknown (built without module information)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	text := cmp.Or(info.Main.Version, "(devel)")
	if revision := settings["vcs.revision"]; revision == "" {
		text += ", revision unknown (built without version control)"
	} else {
		text += ", revision " + revision
		if at := settings["vcs.time"]; at != "" {
			text += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
	}
	text += ", " + cmp.Or(info.GoVersion, "Go version unknown")
	if settings["GOOS"] != "" {
		text += " " + settings["GOOS"] + "/" + settings["GOARCH"]
	}
	return text
}

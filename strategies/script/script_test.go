package script

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/strategies"
)

// A script is described by its first comment, whatever its language.
func TestDescribe(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct{ head, title, description string }{
		{"", "", ""},
		{"// Title\n", "Title", ""},
		{"// Title\n//\n// It does this,\n// and that.\n\n// not this\n", "Title", "It does this, and that."},
		{"/* Title\n   more of it */\n", "Title", "more of it"},
		{"/**\n * Title\n *\n * Some more\n * of it.\n */\n", "Title", "Some more of it."},
		{"\ufeff// Title\n", "Title", ""},
		{"\ufeff#!/usr/bin/env node\r\n// Title\r\n", "Title", ""},
		{"\n\n  // Title\r\n  // more\r\n", "Title", "more"},
		{"// Title\n\"use strict\";\n", "Title", ""},
		{"'use strict'; // Title\n", "", ""},
		{"// Ti\x1btle\tof it\n", "Ti\ufffdtle of it", ""},
		{"\n-- Mine: a title\n-- One line.\n--\n---- And another. \n\n-- not this\n", "Mine: a title", "One line. And another."},
		{"x = 1\n-- late\n", "", ""},
		{"--" + long + "\n-- " + long + "\n", long[:120] + "...", long[:2000] + "..."},
	} {
		source := []byte(tt.head + "function choose() return 1 end")
		sum := sha256.Sum256(source)
		want := strategies.Info{Name: "mine", Kind: strategies.Lua, Source: "scripts/mine.lua", Title: tt.title, Description: tt.description, Fingerprint: hex.EncodeToString(sum[:])}
		if diff := cmp.Diff(want, Describe(strategies.Lua, "mine", "scripts/mine.lua", source, Comment(source))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.head, diff)
		}
	}
}

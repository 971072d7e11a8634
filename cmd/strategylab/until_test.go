package main

import (
	"encoding/json"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// sameButTime compares JSON documents in everything but how long they took.
func sameButTime(ts *testscript.TestScript, neg bool, args []string) {
	var first map[string]any
	for _, file := range args {
		var doc map[string]any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &doc))
		delete(doc, "seconds")
		delete(doc, "matches_per_second")
		delete(doc, "spenders")
		if first == nil {
			first = doc
			continue
		}
		if diff := cmp.Diff(first, doc); (diff == "") == neg {
			ts.Fatalf("%s and %s: %s", args[0], file, diff)
		}
	}
}

package jsonrpc_test

import (
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func TestRandomID(t *testing.T) {
	t.Parallel()
	v4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 10_000 {
		id := jsonrpc.RandomID()
		if !v4.MatchString(id) {
			t.Fatalf("%q is not a version 4 UUID", id)
		}
		if seen[id] {
			t.Fatalf("%q came twice", id)
		}
		seen[id] = true
	}
}

func TestSequentialIDs(t *testing.T) {
	t.Parallel()
	next := jsonrpc.SequentialIDs("42")
	// Computed by uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID,
	// "jsonrpc.SequentialIDs"), "42/1"), and "42/2", of Python's uuid.
	want := []string{"42907376-edb7-5c88-bb9a-f4f22980b9b3", "1eceefc0-52b1-5908-9b02-7e00ac7d2ce9"}
	got := []string{next(), next()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if other := jsonrpc.SequentialIDs("43")(); other == got[0] {
		t.Error("another seed gives the same id")
	}
	var wg sync.WaitGroup
	var seen sync.Map
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				id := next()
				if _, dup := seen.LoadOrStore(id, true); dup {
					t.Errorf("%q came twice", id)
				}
			}
		})
	}
	wg.Wait()
}

package jsonrpc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

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
}

package jsonrpc

import (
	"errors"
	"net/http"
	"testing"
)

// TestAnswerBeforeTheEnd: a caller that looks only when the server has ended still gets
// the answer that was there before, as when a handler's request ends its server.
func TestAnswerBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s, err := new(Loopback).Listen("P01", Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	answer := make(chan Reply, 1)
	for range 100 { // select chooses at random among what is ready
		answer <- Reply{Status: http.StatusOK}
		if rep, err := s.await(t.Context(), answer); err != nil || rep.Status != http.StatusOK {
			t.Fatalf("status %d, error %v; want the answer", rep.Status, err)
		}
	}
	var closed *CallError
	if _, err := s.await(t.Context(), answer); !errors.As(err, &closed) || closed.Kind != ErrClosed {
		t.Errorf("error %v without an answer, want %v", err, ErrClosed)
	}
}

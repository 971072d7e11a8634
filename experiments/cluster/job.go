package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/host/results"
)

// Job is everything that a worker needs to play the leagues of a run.
type Job struct {
	Run  string // a name that is never used again
	Plan results.Plan
	// Settings say how strategies run. This package passes them on.
	Settings json.RawMessage
	// Sources are the SHA-256 of the code to fetch, by field index; empty for players
	// whose code the workers have.
	Sources []string
}

// announcement is what a coordinator says about its run every few seconds, signed. The
// bucket of runs keeps the first.
type announcement struct {
	Run      string
	Protocol int
	Version  string // of the coordinator's program
	Job      string // SHA-256 of the job's object
	AckWait  time.Duration
	Seq      int64 // grows with each announcement of a run
	Over     bool  // the run has ended
	Status   RunStatus
}

// MaxJob is the largest size of a job without its sources, in bytes.
const MaxJob = 4 << 20

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// put stores an object under its SHA-256, unless it is there, and sets missing if it was
// not. overwrite stores it in any case: what the broker says about it may be wrong.
func (l *Link) put(ctx context.Context, content []byte, overwrite bool, missing *bool) error {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	store, err := l.js.ObjectStore(ctx, l.store("code"))
	if err != nil {
		return l.explain(err)
	}
	name, hash := sum(content), sha256.New()
	hash.Write(content)
	info, err := store.GetInfo(ctx, name)
	there := err == nil && info.Size == uint64(len(content)) && info.Digest == jetstream.GetObjectDigestValue(hash)
	if *missing = *missing || !there; there && !overwrite {
		return nil
	}
	if _, err := store.Put(ctx, jetstream.ObjectMeta{Name: name}, bytes.NewReader(content)); err != nil {
		return l.explain(err)
	}
	return nil
}

// tampered says that code from the broker is not what the run names.
func tampered(want, got string) error {
	return fmt.Errorf("the broker has other code than the run names: its SHA-256 is %s, want %s", got, want)
}

// get fetches an object of at most this many bytes and verifies its SHA-256.
func (l *Link) get(ctx context.Context, name string, most int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	store, err := l.js.ObjectStore(ctx, l.store("code"))
	if err != nil {
		return nil, l.explain(err)
	}
	object, err := store.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("fetch code %s: %w", name, err)
	}
	content, err := io.ReadAll(io.LimitReader(object, int64(most)+1))
	err = errors.Join(err, object.Close())
	switch {
	case len(content) > most:
		return nil, fmt.Errorf("fetch code %s: it has more than %d bytes, the limit of this worker", name, most)
	case errors.Is(err, jetstream.ErrDigestMismatch):
		return nil, tampered(name, "unknown")
	case err != nil:
		return nil, fmt.Errorf("fetch code %s: %w", name, err)
	}
	if got := sum(content); got != name {
		return nil, tampered(name, got)
	}
	return content, nil
}

// cache keeps objects by their SHA-256, up to a number of bytes. It is safe for
// concurrent use.
type cache struct {
	link *Link
	most int // bytes of one object

	mu    sync.Mutex
	kept  map[string][]byte
	order []string // oldest first
	size  int
}

// cacheSize bounds the code that a worker keeps, in bytes.
const cacheSize = 64 << 20

func newCache(l *Link, most int) *cache {
	return &cache{link: l, most: most, kept: make(map[string][]byte)}
}

// get returns an object, verified.
func (c *cache) get(ctx context.Context, name string) ([]byte, error) {
	c.mu.Lock()
	content, ok := c.kept[name]
	c.mu.Unlock()
	if ok {
		return content, nil
	}
	content, err := c.link.get(ctx, name, c.most)
	if err != nil {
		return nil, err
	}
	c.add(name, content)
	return content, nil
}

// add keeps an object.
func (c *cache) add(name string, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[name]; !ok {
		c.kept[name], c.order, c.size = content, append(c.order, name), c.size+len(content)
	}
	for c.size > cacheSize && len(c.order) > 1 {
		c.size -= len(c.kept[c.order[0]])
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}

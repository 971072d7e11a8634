package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// DefaultPrefix begins the names of everything on a broker.
const DefaultPrefix = "strategylab"

// Protocol is the version of what coordinator and workers say to each other. They refuse
// each other unless it is the same.
const Protocol = 2

// Config is how to reach a broker. The zero value of everything but URL is useful.
type Config struct {
	URL    string // nats://[TOKEN@]HOST:PORT, tls://..., or several with commas
	Creds  string // credentials file of NATS
	CA     string // file in PEM format with the authorities to trust
	Cert   string // file in PEM format with the certificate of this client
	Key    string // and its key
	Prefix string // default DefaultPrefix
	// Memory has a broker that ends with this process keep streams in memory: nobody
	// would read them from its disk.
	Memory bool
	// Name is the name of this client on the broker.
	Name string
	// AckWait is the time after which a chunk goes to another worker if nothing is heard
	// of the first; default DefaultAckWait. The coordinator decides it.
	AckWait time.Duration
	// Note receives what people should know; it may be nil. It must be safe for
	// concurrent use.
	Note func(format string, args ...any)
	// Wait says to wait for a broker that is not there yet.
	Wait bool
}

// Link is a connection to a broker. It is safe for concurrent use.
type Link struct {
	config Config
	conn   *nats.Conn
	js     jetstream.JetStream
	lost   chan struct{} // closed when the connection ended for good
	once   sync.Once

	mu   sync.Mutex
	back chan struct{} // closed at the next reconnection, and replaced
	deny func(error)   // ends prepare, because the broker does not allow it; else nil
}

// DefaultAckWait is Config.AckWait by default. A worker is heard of four times in it.
const DefaultAckWait = 5 * time.Second

// apiTime bounds one request to the broker.
const apiTime = 10 * time.Second

// Connect connects to a broker. The caller closes the link.
func Connect(ctx context.Context, c Config) (*Link, error) {
	c.Prefix, c.AckWait = cmp.Or(c.Prefix, DefaultPrefix), cmp.Or(c.AckWait, DefaultAckWait)
	if c.Note == nil {
		c.Note = func(string, ...any) {}
	}
	if err := validPrefix(c.Prefix); err != nil {
		return nil, err
	}
	l := &Link{config: c, back: make(chan struct{}), lost: make(chan struct{})}
	options := l.options()
	waiting := false
	for {
		var err error
		if l.conn, err = nats.Connect(c.URL, options...); err == nil {
			break
		}
		if !c.Wait || !absent(err) {
			return nil, connectError(c.URL, err)
		}
		if !waiting {
			waiting = true
			c.Note("no broker at %s yet; waiting for it", Redacted(c.URL))
		}
		if !pause(ctx, time.Second) {
			return nil, context.Cause(ctx)
		}
	}
	var err error
	if l.js, err = jetstream.New(l.conn); err != nil {
		l.conn.Close()
		return nil, fmt.Errorf("connect to broker: %w", err)
	}
	return l, nil
}

func (l *Link) options() []nats.Option {
	c := l.config
	options := []nats.Option{
		nats.Name(cmp.Or(c.Name, "strategylab")), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second),
		nats.ReconnectHandler(func(*nats.Conn) {
			l.mu.Lock()
			close(l.back)
			l.back = make(chan struct{})
			l.mu.Unlock()
			c.Note("connected to the broker again")
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.Note("the connection to the broker is lost (%v); waiting for it", err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) { l.once.Do(func() { close(l.lost) }) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { // requests return their errors, but for this
			if errors.Is(err, nats.ErrPermissionViolation) {
				l.mu.Lock()
				defer l.mu.Unlock()
				if l.deny != nil {
					l.deny(fmt.Errorf("it does not allow the prefix %q to this user (%w)", c.Prefix, err))
				}
			}
		}),
	}
	if c.Creds != "" {
		options = append(options, nats.UserCredentials(c.Creds))
	}
	if c.CA != "" {
		options = append(options, nats.RootCAs(c.CA))
	}
	if c.Cert != "" || c.Key != "" {
		options = append(options, nats.ClientCert(c.Cert, c.Key))
	}
	return options
}

// reconnection returns a channel that is closed at the next reconnection.
func (l *Link) reconnection() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.back
}

// Close closes the connection.
func (l *Link) Close() { l.conn.Close() }

// absent reports whether nobody listens at an address.
func absent(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.As(err, &network)
}

// RefusedError says that a broker is not there or does not accept this client.
type RefusedError struct {
	URL  string // without the token
	Hint string
	Err  error
}

// Error names the broker.
func (e *RefusedError) Error() string { return fmt.Sprintf("connect to broker %s: %v", e.URL, e.Err) }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

func connectError(address string, err error) error {
	e := &RefusedError{URL: Redacted(address), Err: err}
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		e.Hint = "name the file with the authority of its certificate: --cluster-ca FILE"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		e.Err = fmt.Errorf("it refuses the token or credentials (%w)", err)
		e.Hint = "copy the line that the experiment or the broker printed, with its token: nats://TOKEN@HOST:PORT"
	case absent(err):
		e.Err = fmt.Errorf("nobody answers there (%w)", err)
		e.Hint = "start one: strategylab broker --listen HOST:PORT --data-dir DIR"
	}
	return e
}

// Redacted returns an address without its token or password.
func Redacted(address string) string {
	parts := strings.Split(address, ",")
	for i, part := range parts {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil && u.User != nil {
			u.User = nil
			parts[i] = u.String()
		}
	}
	return strings.Join(parts, ",")
}

func validPrefix(prefix string) error {
	for word := range strings.SplitSeq(prefix, ".") {
		if word == "" || strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return fmt.Errorf("prefix %q; want letters, digits, - and _, and dots between them", prefix)
		}
	}
	return nil
}

// pause waits; false if ctx is done before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// subject returns a subject of this link.
func (l *Link) subject(words ...string) string {
	return l.config.Prefix + "." + strings.Join(words, ".")
}

// store returns the name of a stream or bucket of this link.
func (l *Link) store(word string) string {
	return strings.ReplaceAll(l.config.Prefix, ".", "_") + "_" + word
}

// kept is how long the broker keeps plan and scripts of a run whose coordinator was killed.
const kept = 7 * 24 * time.Hour

// prepare makes sure that the broker has the buckets. What is there already
// stays as it is, so that an administrator can give them replicas and limits.
func (l *Link) prepare(ctx context.Context) error {
	storage := jetstream.FileStorage
	if l.config.Memory {
		storage = jetstream.MemoryStorage
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	ctx, deny := context.WithCancelCause(ctx) // a broker does not answer what it does not allow
	defer deny(nil)
	l.setDeny(deny)
	defer l.setDeny(nil)
	err := l.create(ctx, storage)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, nats.ErrPermissionViolation) {
		err = cause
	}
	if err != nil {
		return l.explain(err)
	}
	return nil
}

func (l *Link) setDeny(deny func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deny = deny
}

// create creates buckets that are not there.
func (l *Link) create(ctx context.Context, storage jetstream.StorageType) error {
	_, err := l.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: l.store("runs"), History: 1, TTL: kept, Storage: storage})
	if err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
		return err
	}
	_, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: l.store("code"), TTL: kept, Storage: storage})
	if err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
		return err
	}
	return nil
}

func (l *Link) explain(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("broker %s: %w; start it with JetStream: nats-server --jetstream", Redacted(l.config.URL), err)
	}
	return fmt.Errorf("broker %s: %w", Redacted(l.config.URL), err)
}

// gone reports whether an error says that the broker no longer has something.
func gone(err error) bool {
	for _, e := range []error{jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound, jetstream.ErrObjectNotFound, jetstream.ErrKeyNotFound,
		jetstream.ErrNoStreamResponse, nats.ErrNoResponders} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// permanent reports whether an error does not end by waiting.
func permanent(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrPermissionViolation)
}

// recovery is how long a broker may take to begin again to store, after its disk was full.
const recovery = 3 * time.Second

// patiently repeats what has failed for a reason that looks permanent, until recovery is over.
func patiently(ctx context.Context, do func() error) error {
	deadline := time.Now().Add(recovery)
	for {
		err := do()
		if !permanent(err) || time.Now().After(deadline) || !pause(ctx, recovery/10) {
			return err
		}
	}
}

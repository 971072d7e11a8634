package memory

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// pair returns both ends of a connection.
func pair(t *testing.T) (host, plugin io.ReadWriteCloser) {
	t.Helper()
	if !Supported {
		t.Skip("no shared memory on this system")
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var work sync.WaitGroup
	work.Go(func() {
		conn, err := l.AcceptUnix()
		if err == nil {
			plugin, err = Accept(conn, true)
		}
		if err != nil {
			t.Error(err)
		}
	})
	conn, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err == nil {
		host, err = Offer(conn)
	}
	work.Wait()
	if err != nil || t.Failed() {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []io.Closer{host, plugin} {
			if err := end.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return host, plugin
}

// Messages of any length arrive, also those longer than the
func TestMessages(t *testing.T) {
	t.Parallel()
	host, plugin := pair(t)
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		b := make([]byte, 1000)
		for {
			n, err := plugin.Read(b)
			if err != nil {
				return
			}
			if _, err := plugin.Write(b[:n]); err != nil {
				return
			}
		}
	})
	for _, size := range []int{1, 999, 1000, 1001, 256<<10 - 128, 600_000} {
		want := bytes.Repeat([]byte{byte(size), 1, 2, 3, 5}, size/5+1)[:size]
		work.Go(func() {
			if _, err := host.Write(want); err != nil {
				t.Error(err)
			}
		})
		got := make([]byte, size)
		if _, err := io.ReadFull(host, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: came back different, error %v", size, err)
		}
	}
	_ = host.Close()
}

// Close at either end ends a Read that waits at the other, and one beside it.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, closeHost := range []bool{false, true} {
		host, plugin := pair(t)
		var work sync.WaitGroup
		for _, end := range []io.Reader{host, plugin} {
			work.Go(func() {
				if n, err := end.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("read %d bytes, error %v; want the end", n, err)
				}
			})
		}
		end := plugin
		if closeHost {
			end = host
		}
		if err := end.Close(); err != nil {
			t.Error(err)
		}
		work.Wait()
		if _, err := end.Write([]byte{1}); err != io.ErrClosedPipe {
			t.Errorf("write after the end: error %v, want %v", err, io.ErrClosedPipe)
		}
	}
}

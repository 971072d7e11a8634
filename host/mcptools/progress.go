package mcptools

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often progress is told at most.
const progressEvery = 100 * time.Millisecond

// report has c tell its progress to the client that asked for it, until stop.
func report(ctx context.Context, c *Call, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	var (
		mu      sync.Mutex
		stopped bool
		last    = -1.0
		at      time.Time
	)
	c.progress = func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		now, final := time.Now(), total > 0 && done >= total
		if stopped || done <= last || (!final && now.Sub(at) < progressEvery) {
			return
		}
		last, at = done, now
		// A client that is gone hears of no progress; the call goes on.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: total, Message: message,
		})
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
	}
}

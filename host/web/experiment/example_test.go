package experiment_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"time"

	"github.com/strategylab/strategylab/host/web/experiment"
)

// Example serves a page that waits for the first league, and then the report.
func Example() {
	page := experiment.New(time.Now)
	heading := func() {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
		fmt.Println(answer.Code, regexp.MustCompile("<h1[^>]*>([^<]*)").FindStringSubmatch(answer.Body.String())[1])
	}
	heading()
	page.Finish(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<h1>council is best</h1>")
	}))
	heading()
	// Output:
	// 200 The first leagues are being played
	// 200 council is best
}

package web_test

import (
	"fmt"
	"html/template"
	"net/http/httptest"
	"strings"

	"github.com/strategylab/strategylab/host/web"
)

// A page with one part. Whoever has it open sees the new count after Touch.
func ExamplePage() {
	count := 0
	page := web.New(web.Config{
		Templates: template.Must(template.New("").Parse(`
			{{define "page"}}<body data-version="{{.Version}}"><p id="count">{{.Parts.count}}</p><script type="module" src="assets/live.js"></script>{{end}}
			{{define "count"}}{{.}} matches{{end}}`)),
		Parts: []string{"count"},
		Data:  func() any { return count },
	})
	count = 3
	page.Touch()
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	fmt.Println(strings.Contains(answer.Body.String(), `<p id="count">3 matches</p>`))
	// Output: true
}

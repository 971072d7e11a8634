package studio_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/strategylab/strategylab/host/web/studio"
)

// A studio of one folder, which everybody who reaches the page may use.
func ExampleStudio() {
	page := studio.New(studio.Config{Teams: []studio.Team{{Lab: newDesk()}}})
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest("GET", "/?file=mine.lua", nil))
	fmt.Println(strings.Contains(answer.Body.String(), "function choose(turn)"))
	// Output: true
}

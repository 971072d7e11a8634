package rawjson_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/rawjson"
)

// Members keep their order and values their spelling.
func ExampleParse() {
	object, err := rawjson.Parse([]byte(`{"round": 1.0, "match": "R1M1", "extra": [ 1 ]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(object.Text("match"))
	fmt.Println(string(object.Set("match", rawjson.Quote("R1M2")).Encode()))
	// Output:
	// R1M1
	// {"round":1.0,"match":"R1M2","extra":[ 1 ]}
}

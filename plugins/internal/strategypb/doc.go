// Package strategypb is the protocol between a host and its plugins, generated
// from strategy.proto, which is also its documentation.
//
// The generated files are committed. To regenerate them, with protoc and its two
// plugins for Go installed:
//
//	protoc --go_out=. --go_opt=paths=source_relative \
//	  --go-grpc_out=. --go-grpc_opt=paths=source_relative strategy.proto
package strategypb

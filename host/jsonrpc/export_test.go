package jsonrpc

// OverTLS is OverHTTP with a configuration of TLS.
var OverTLS = overHTTP

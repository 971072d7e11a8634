package wasmscript

// LimitCode sets the size of caches, and returns a function that sets it back.
func LimitCode(size int64) (undo func()) {
	before := maxCode
	maxCode = size
	return func() { maxCode = before }
}

// Interpreted returns a configuration that does not compile.
func Interpreted(c Config) Config {
	c.interpreted = true
	return c
}

//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package wasmscript

import "errors"

func mapMemory(int) ([]byte, error) { return nil, errors.ErrUnsupported }
func unmapMemory([]byte) error      { return errors.ErrUnsupported }

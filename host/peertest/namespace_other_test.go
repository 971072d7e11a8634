//go:build !linux

package peertest

import "errors"

func inUserNamespace() (code int, ran bool) { return 0, false }

func isolated() (*network, error) { return nil, errors.ErrUnsupported }

//go:build !linux

package collect

import (
	"errors"
	"net"
)

// frames are what only Linux has.
type frames struct{ name string }

func openFrames(string, *net.Interface, uint16, Config, *Socket) (*frames, error) {
	return nil, errors.ErrUnsupported
}

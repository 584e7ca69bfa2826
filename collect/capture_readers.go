package collect

import (
	"io"
	"sync/atomic"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"
)

// packetReader is what the readers of both formats have in common.
type packetReader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// A pcapReader adds to each packet the link type of the file, where the pcapng reader has that of the interface.
type pcapReader struct {
	*pcapgo.Reader
	linkType []any
}

func (r *pcapReader) ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	data, info, err := r.Reader.ZeroCopyReadPacketData()
	info.AncillaryData = r.linkType
	return data, info, err
}

// A countingReader counts what passes through it.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n.Add(int64(n))
	return n, err
}

// An errorReader remembers why its reader failed, other than by the end of the file.
type errorReader struct {
	r   io.Reader
	err error
}

func (r *errorReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

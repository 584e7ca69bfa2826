package fabric

import (
	"bufio"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"
)

const (
	snapLen          = 65535 // captures keep all of a frame
	linkTypeEthernet = 1     // of libpcap
)

// A PcapSink writes telemetry reports into a capture file, with times in nanoseconds.
type PcapSink struct {
	buffer *bufio.Writer
	pcap   *pcapgo.Writer
}

// NewPcapSink writes the header of a capture file to w.
func NewPcapSink(w io.Writer) (*PcapSink, error) {
	s := &PcapSink{buffer: bufio.NewWriterSize(w, 64<<10)}
	s.pcap = pcapgo.NewWriterNanos(s.buffer)
	return s, s.pcap.WriteFileHeader(snapLen, linkTypeEthernet)
}

// Report implements Sink.
func (s *PcapSink) Report(atNs uint64, frame []byte) error {
	return s.pcap.WritePacket(gopacket.CaptureInfo{
		Timestamp: time.Unix(0, int64(atNs)), CaptureLength: len(frame), Length: len(frame),
	}, frame)
}

// Flush implements Sink.
func (s *PcapSink) Flush() error { return s.buffer.Flush() }

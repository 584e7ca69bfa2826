package collect

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// maxPacket is the longest packet that a pcap file may hold, in bytes: libpcap's MAXIMUM_SNAPLEN. A longer one is a
// sign of damage.
const maxPacket = 262144

// A Capture reads the packets of a pcap or pcapng file. It is for one goroutine, but BytesRead and Size may be called
// from others.
type Capture struct {
	name   string
	closer io.Closer // nil if there is nothing to close
	size   int64
	file   *countingReader
	source *errorReader // the file, uncompressed
	reader packetReader
	number int
	err    error // what ended the reading
}

// OpenCapture opens a pcap or pcapng file, of either byte order and of micro- or nanoseconds, plain or compressed by
// gzip. The first bytes tell which; the name does not matter. The name "-" is the standard input.
func OpenCapture(name string) (*Capture, error) {
	if name == "-" {
		return newCapture(os.Stdin, "standard input", fileSize(os.Stdin))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	c, err := newCapture(file, name, fileSize(file))
	if err != nil {
		file.Close()
		return nil, err
	}
	c.closer = file
	return c, nil
}

// fileSize returns the size of a regular file in bytes, and 0 for a pipe or terminal.
func fileSize(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// newCapture reads a capture from r. The name is for error texts, the size for Size.
func newCapture(r io.Reader, name string, size int64) (*Capture, error) {
	c := &Capture{name: name, size: size, file: &countingReader{r: r}}
	c.source = &errorReader{r: c.file}
	buffered := bufio.NewReaderSize(c.source, 1<<16)
	magic, err := buffered.Peek(4)
	if err == nil && magic[0] == 0x1f && magic[1] == 0x8b { // RFC 1952 §2.3.1
		unzip, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, c.headerError(err)
		}
		c.source = &errorReader{r: unzip}
		buffered = bufio.NewReaderSize(c.source, 1<<16)
	}
	if magic, err = buffered.Peek(4); err != nil && err != io.EOF {
		return nil, c.headerError(err)
	}
	switch string(magic) {
	// pcap: byte orders, resolutions
	case "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1":
		err = c.openPcap(buffered)
	case "\x0a\x0d\x0d\x0a": // pcapng: a section header block
		options := pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true}
		c.reader, err = pcapgo.NewNgReader(buffered, options)
	default:
		return nil, fmt.Errorf("%s is not a pcap or pcapng file", name)
	}
	if err != nil {
		return nil, c.headerError(err)
	}
	return c, nil
}

func (c *Capture) openPcap(r io.Reader) error {
	reader, err := pcapgo.NewReader(r)
	if err != nil {
		return err
	}
	reader.SetSnaplen(min(reader.Snaplen(), maxPacket))
	c.reader = &pcapReader{reader, []any{reader.LinkType()}}
	return nil
}

// Next returns the next packet, and io.EOF after the last one. A file that ends within a packet gives an error that
// wraps io.ErrUnexpectedEOF; that and every other error say after which packet. An error is final: Next keeps returning
// it.
func (c *Capture) Next() (Packet, error) {
	if c.err != nil {
		return Packet{}, c.err
	}
	data, info, err := c.reader.ZeroCopyReadPacketData()
	if err != nil && c.source.err != nil {
		err = c.source.err // pcapgo takes some of these for the end of the file, and words others anew
	}
	switch {
	case err == nil:
	case err == io.EOF && info.CaptureLength == 0:
		c.err = io.EOF
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF): // io.EOF: right behind the header of a packet
		c.err = fmt.Errorf("%s: cut off after packet %d: %w", c.name, c.number, io.ErrUnexpectedEOF)
	default:
		c.err = fmt.Errorf("%s: damaged after packet %d: %w", c.name, c.number, err)
	}
	if c.err != nil {
		return Packet{}, c.err
	}
	c.number++
	linkType, _ := info.AncillaryData[0].(layers.LinkType)
	return Packet{
		Number:   c.number,
		Time:     info.Timestamp,
		Data:     data,
		Length:   info.Length,
		LinkType: int(linkType),
	}, nil
}

// BytesRead returns how many bytes of the file were read, compressed ones if it is compressed. It is ahead of Next by a
// buffer.
func (c *Capture) BytesRead() int64 { return c.file.n.Load() }

// Size returns the size of the file in bytes, in the same measure as BytesRead, or 0 if it is not known (a pipe).
func (c *Capture) Size() int64 { return c.size }

// Close closes the file; the standard input stays open.
func (c *Capture) Close() error {
	if c.closer == nil {
		return nil
	}
	return c.closer.Close()
}

// headerError describes an error that came before the first packet.
func (c *Capture) headerError(err error) error {
	if c.source.err != nil {
		err = c.source.err
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: cut off within the file header: %w", c.name, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: cannot read the file header: %w", c.name, err)
}

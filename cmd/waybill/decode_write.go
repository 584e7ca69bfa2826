package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/wire/dissect"
)

// maxComment is how many bytes of a comment are written: what the length of an option can say, less its padding.
const maxComment = 0xfff0

// A captureWriter writes packets as they came to a pcapng file, each with a comment that says what is in it.
type captureWriter struct {
	to         io.WriteCloser
	buffer     *bufio.Writer
	file       *pcapgo.NgWriter // nil: no packet came yet
	interfaces map[int]int      // by link type
	text       []byte
}

// newCaptureWriter makes the file; - is out.
func newCaptureWriter(name string, out io.Writer) (*captureWriter, error) {
	w := &captureWriter{interfaces: map[int]int{}}
	if name == "-" {
		w.to = nopCloser{out}
	} else {
		f, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		w.to = f
	}
	w.buffer = bufio.NewWriterSize(w.to, 1<<16)
	return w, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// write implements packetWriter.
func (w *captureWriter) write(p *decodedPacket) error {
	at, known := w.interfaces[p.LinkType]
	if !known {
		var err error
		if at, err = w.addInterface(p.LinkType); err != nil {
			return err
		}
	}
	w.text = append(append(w.text[:0], dissect.Summary(p.Layers)...), '\n')
	w.text = dissect.AppendTree(w.text, p.Layers, &dissect.Style{})
	comment := strings.TrimRight(string(w.text), "\n")
	if len(comment) > maxComment {
		end := maxComment
		for !utf8.RuneStart(comment[end]) {
			end--
		}
		comment = comment[:end]
	}
	return w.file.WritePacketWithOptions(gopacket.CaptureInfo{
		Timestamp: p.Time, CaptureLength: len(p.Data), Length: max(p.Length, len(p.Data)), InterfaceIndex: at,
	}, p.Data, pcapgo.NgPacketOptions{Comments: []string{comment}})
}

// addInterface says which link type packets have, in an interface of their own.
func (w *captureWriter) addInterface(linkType int) (at int, err error) {
	if linkType < 0 || linkType > 0xff { // what the library can write
		return 0, fmt.Errorf("--write: packets of LINKTYPE %d cannot be written", linkType)
	}
	description := pcapgo.NgInterface{
		Name: fmt.Sprintf("linktype%d", linkType), LinkType: layers.LinkType(linkType), TimestampResolution: 9,
	}
	if w.file == nil {
		w.file, err = pcapgo.NewNgWriterInterface(w.buffer, description, pcapgo.NgWriterOptions{
			SectionInfo: pcapgo.NgSectionInfo{Application: "waybill " + version},
		})
	} else {
		at, err = w.file.AddInterface(description)
	}
	w.interfaces[linkType] = at
	return at, err
}

// close implements packetWriter.
func (w *captureWriter) close() error {
	if w.file == nil {
		if _, err := w.addInterface(int(layers.LinkTypeEthernet)); err != nil { // a file without packets
			return err
		}
	}
	if err := w.file.Flush(); err != nil {
		return err
	}
	if err := w.buffer.Flush(); err != nil {
		return err
	}
	return w.to.Close()
}

// isOneOf reports whether a file is one of those with these names.
func isOneOf(file string, names []string) bool {
	a, err := os.Stat(file)
	for _, name := range names {
		if b, errB := os.Stat(name); filepath.Clean(name) == filepath.Clean(file) ||
			err == nil && errB == nil && os.SameFile(a, b) {
			return true
		}
	}
	return false
}

package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// decodeHex prints the packet given as text.
func (c *decodeCommand) decodeHex(w packetWriter, cfg *codepoint.Config) error {
	b, err := parseHex(c.hex)
	if err != nil {
		return command.Usage(fmt.Errorf("--hex: %w", err))
	}
	start, err := dissect.ParseStart(c.start)
	if err != nil {
		return command.Usage(fmt.Errorf("--start: %w", err))
	}
	p := decodedPacket{Length: len(b), Captured: len(b), Layers: dissect.Packet(b, start, cfg)}
	if c.errorsOnly && !hasError(p.Layers) {
		return nil
	}
	return w.write(&p)
}

// parseHex reads bytes in hex. Each group of digits may start with 0x; blanks and line ends are ignored.
func parseHex(text string) ([]byte, error) {
	var digits strings.Builder
	for _, group := range strings.Fields(text) {
		group = strings.TrimPrefix(strings.TrimPrefix(group, "0x"), "0X")
		digits.WriteString(group)
	}
	b, err := hex.DecodeString(digits.String())
	var bad hex.InvalidByteError
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%q is no hex digit", rune(bad))
	case err != nil:
		return nil, fmt.Errorf("got an odd number of hex digits, %d", digits.Len())
	case len(b) == 0:
		return nil, errors.New("no bytes")
	}
	return b, nil
}

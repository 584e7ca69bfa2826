package serve

import (
	"cmp"
	"fmt"

	"github.com/waybill-int/waybill/analyze/burst"
)

// burstSettings say which queues are long. Sizes are bytes.
type burstSettings struct {
	Above    string `yaml:"above" doc:"a burst begins when the queue is longer; auto: when it is unusually long for this queue"`
	Below    string `yaml:"below" doc:"and ends when it is that short or shorter; without it half of above, or with auto half way to the median length"`
	MinAbove string `yaml:"min_above" doc:"how much longer than the median a queue must be for auto at least"`
	// of queues that are counted in packets
	AbovePackets    uint64 `yaml:"above_packets,omitempty" doc:"above, of queues that are counted in packets; 0: auto"`
	BelowPackets    uint64 `yaml:"below_packets,omitempty" doc:"below, of queues that are counted in packets"`
	MinAbovePackets uint64 `yaml:"min_above_packets" doc:"min_above, of queues that are counted in packets"`
}

const autoAbove = "auto"

func defaultBurstSettings() burstSettings {
	return burstSettings{Above: autoAbove, MinAbove: "30kB", MinAbovePackets: 20}
}

func (b *burstSettings) check() error {
	for _, size := range []struct{ key, value string }{
		{"above", b.above()},
		{"below", cmp.Or(b.Below, "0")},
		{"min_above", b.MinAbove},
	} {
		if _, err := parseSize(size.value); err != nil {
			return fmt.Errorf("bursts: %s: %w", size.key, err)
		}
	}
	above, _ := parseSize(b.above())
	below, _ := parseSize(cmp.Or(b.Below, "0"))
	least, _ := parseSize(b.MinAbove)
	switch {
	case b.Above != autoAbove && above == 0 || b.Above == autoAbove && least == 0:
		return fmt.Errorf("bursts: a burst needs a queue that is longer than 0 bytes")
	case below >= cmp.Or(above, least):
		return fmt.Errorf("bursts: below is %s, want less than the %d bytes at which a burst begins", b.Below,
			cmp.Or(above, least))
	case b.AbovePackets == 0 && b.MinAbovePackets == 0:
		return fmt.Errorf("bursts: a burst needs a queue that is longer than 0 packets")
	case b.BelowPackets >= cmp.Or(b.AbovePackets, b.MinAbovePackets):
		return fmt.Errorf("bursts: below_packets is %d, want less than the %d packets at which a burst begins",
			b.BelowPackets, cmp.Or(b.AbovePackets, b.MinAbovePackets))
	}
	return nil
}

// above returns the size of Above, which is 0 for auto.
func (b *burstSettings) above() string {
	if b.Above == autoAbove {
		return "0"
	}
	return b.Above
}

// burstConfig returns what finds bursts, in a 32nd of the memory.
func (c *Config) burstConfig() burst.Config {
	memory, _ := parseSize(c.Memory)
	b := burst.ConfigFor(memory / 32)
	b.AboveBytes, _ = parseSize(c.Bursts.above())
	b.BelowBytes, _ = parseSize(cmp.Or(c.Bursts.Below, "0"))
	b.MinAboveBytes, _ = parseSize(c.Bursts.MinAbove)
	b.AbovePackets, b.BelowPackets = c.Bursts.AbovePackets, c.Bursts.BelowPackets
	b.MinAbovePackets = c.Bursts.MinAbovePackets
	return b
}

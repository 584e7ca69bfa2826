package analyze

import "github.com/waybill-int/waybill/telemetry"

// Configured is what the configuration says of nodes, which reports do not tell. It must not change: Configure replaces
// all of it at once. Any of it may be nil.
type Configured struct {
	Names      map[uint32]string
	Sampling   map[uint32]telemetry.SampleRate
	QueueUnits map[uint32]telemetry.QueueUnit
	Inventory  *telemetry.Inventory
	// UtilizationUnits are what nodes tell the use of their egress ports in.
	UtilizationUnits map[uint32]telemetry.UtilizationUnit
}

// nothingConfigured is what a Collector has that nobody called Configure of.
var nothingConfigured Configured

// Configure replaces what is configured. It may be called from any goroutine; answers that are being gathered may have
// some of both.
func (c *Collector) Configure(to Configured) { c.configured.Store(&to) }

// Configured returns what is configured now. The same pointer is the same configuration.
func (c *Collector) Configured() *Configured {
	if now := c.configured.Load(); now != nil {
		return now
	}
	return &nothingConfigured
}

// Inventory returns what is known of devices beside what they report, as it is now; nil: nothing.
func (c *Collector) Inventory() *telemetry.Inventory { return c.Configured().Inventory }

// Names returns the names of nodes as they are now, which are only to be read.
func (c *Collector) Names() map[uint32]string { return c.Configured().Names }

// Sampling returns how many packets nodes choose by the configuration, which is only to be read.
func (c *Collector) Sampling() map[uint32]telemetry.SampleRate { return c.Configured().Sampling }

// QueueUnits returns what nodes count their queues in by the configuration, which is only to be read.
func (c *Collector) QueueUnits() map[uint32]telemetry.QueueUnit { return c.Configured().QueueUnits }

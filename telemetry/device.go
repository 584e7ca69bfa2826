package telemetry

import (
	"encoding/binary"
	"net"
)

// DeviceText returns a source device id of Transparent Security as text: normally a MAC address and two zero bytes, of
// which it is the address alone.
func DeviceText(id uint64) string {
	mac := binary.BigEndian.AppendUint64(nil, id)
	if id&0xffff == 0 {
		mac = mac[:6]
	}
	return net.HardwareAddr(mac).String()
}

package types

// A Listener is a UDP socket that receives reports, and what became of its datagrams. All counters start at 0 when it
// is opened. Received is Decoded + Damaged + Malformed + Refused + what is being decoded at the moment.
type Listener struct {
	// Address is what the socket is bound to, HOST:PORT. Several sockets may share an address.
	Address string `json:"address" doc:"address and port that it listens on"`
	// Received counts datagrams read from the socket.
	Received uint64 `json:"received" doc:"datagrams read from the socket"`
	// Decoded, Damaged and Malformed count them by telemetry.Outcome.
	Decoded   uint64 `json:"decoded" doc:"datagrams of which all could be read"`
	Damaged   uint64 `json:"damaged" doc:"datagrams of which a part could be read"`
	Malformed uint64 `json:"malformed" doc:"datagrams of which nothing could be read"`
	// Refused counts those whose source may not send them, RefusedUnlisted those of them whose source found no room in
	// the list of refused sources.
	Refused         uint64 `json:"refused" doc:"datagrams whose source may not send them"`
	RefusedUnlisted uint64 `json:"refused_unlisted" doc:"of these, those whose source found no room in the list of refused sources"`
	// KernelDrops counts datagrams that the kernel dropped at the socket; nil where the system does not count them.
	KernelDrops *uint64 `json:"kernel_drops" doc:"datagrams that the kernel dropped at the socket"`
	// ReceiveBufferWanted and ReceiveBuffer are the bytes that were asked for and granted; 0 where the system does not
	// tell.
	ReceiveBufferWanted int `json:"receive_buffer_wanted" kind:"size" doc:"receive buffer that was asked for"`
	ReceiveBuffer       int `json:"receive_buffer" kind:"size" doc:"receive buffer that was granted"`
}

// A ListenerList answers GET /api/v1/listeners.
type ListenerList struct {
	Head
	Listeners []Listener `json:"listeners"`
}

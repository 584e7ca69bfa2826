package inband

// Fields is a set of metadata values, independent of the version and of how a record packs them.
type Fields uint32

// The metadata values.
const (
	NodeID Fields = 1 << iota
	L1Ingress
	L1Egress
	HopLatency
	QueueID
	QueueOccupancy
	QueueCongestion
	IngressTS
	EgressTS
	L2Ingress
	L2Egress
	EgressTxUtil
	BufferID
	BufferOccupancy
	Complement
)

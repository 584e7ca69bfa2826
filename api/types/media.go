package types

import (
	"time"
)

// MediaJSON is the media type of answers.
const MediaJSON = "application/json"

// DefaultLimit is how many items a list has if nothing else is asked for.
const DefaultLimit = 100

// MediaCapture is the media type of captures.
const MediaCapture = "application/vnd.tcpdump.pcap"

// MediaStream is the media type of streams.
const MediaStream = "text/event-stream"

// HeartbeatEvery is how often a stream says something at least.
const HeartbeatEvery = 15 * time.Second

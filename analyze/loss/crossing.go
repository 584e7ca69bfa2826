package loss

import "github.com/waybill-int/waybill/telemetry"

// A Part counts packets since the last scan of which a hop of a path told and others did not.
type Part struct {
	First           uint32            // no hop in front of this one told of them
	Last            uint32            // no hop behind this one did
	Again           uint32            // of these, those whose flow had no better luck with the packet before
	Open            uint32            // the same as last, but who told of them may have told of packets that look alike
	FirstNs, LastNs int64             // when the first and the last of those in last came
	Hit             *telemetry.Extent // those in last
}

// A Crossing is what postcards leave open of the packets on a link, since the last scan.
type Crossing struct {
	Lost            uint64 // packets that the near end sent, and of which nobody behind it tells
	again           uint64 // of these, those whose flow lost the packet before, too
	Open            uint64 // packets of which nobody can know whether they were lost here
	appeared        uint64 // packets of which nobody in front of the far end tells
	FirstNs, LastNs int64  // when the lost ones came to the near end
	Crossed         uint64 // packets that came over the link in that scan
	Path            uint64 // on which most was lost; its hash
	pathLost        uint32
	Hit             *telemetry.Extent // of the lost ones
}

// Evidence returns how many packets a link was sent and how many of these it lost, as far as that is no doubt, if so
// many reports of the near and of the far end were lost: see grayDetector.
func (c *Crossing) Evidence(nearLost, farLost uint64) (count Amount, silent bool, why string) {
	count = Amount{sent: c.Crossed + c.Lost, open: c.Lost + c.Open}
	if c.Lost <= farLost {
		return count, false, ""
	}
	lost := c.Lost - farLost
	both := c.Crossed - min(c.appeared, c.Crossed) // packets that both ends told of, for certain
	if appeared := c.appeared - min(nearLost, c.appeared); appeared*20 > both {
		return Amount{}, false, lossUnlike
	}
	if lost >= FewPackets && both > 0 && c.inRuns(both) {
		return count, true, ""
	}
	if lost < both {
		count.Lost, count.open = lost, farLost+c.Open
	}
	return count, false, ""
}

// inRuns reports whether nearly all packets that were lost follow another one of their flow that was, and more of them
// than by chance, in 700 of 701 cases, where so many came through.
func (c *Crossing) inRuns(through uint64) bool {
	n, p := float64(c.Lost), float64(c.Lost)/float64(c.Lost+through)
	more := float64(c.again) - n*p
	return c.again*10 >= c.Lost*8 && more > 0 && more*more >= 9*n*p*(1-p)
}

// Meet adds packets of which only a part of the hops on a path told, as those in front of the link and behind it did.
func (c *Crossing) Meet(path uint64, appeared uint64, part *Part) {
	c.appeared += appeared
	c.Open += uint64(part.Open)
	if part.Last == 0 {
		return
	}
	if c.Lost == 0 {
		c.FirstNs = part.FirstNs
	}
	c.FirstNs, c.LastNs = min(c.FirstNs, part.FirstNs), max(c.LastNs, part.LastNs)
	c.Lost += uint64(part.Last)
	c.Hit = c.Hit.Plus(part.Hit)
	c.again += uint64(part.Again)
	if part.Last > c.pathLost || part.Last == c.pathLost && path < c.Path {
		c.Path, c.pathLost = path, part.Last
	}
}

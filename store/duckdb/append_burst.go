package duckdb

import "github.com/waybill-int/waybill/telemetry"

func appendHost(a *appender, r *telemetry.HostInterval) {
	a.time(r.StartNs)
	a.address(true, r.Addr)
	tunnel := r.Tunnel != telemetry.TunnelNone
	a.known(tunnel, uint8(r.Tunnel))
	a.known(tunnel, r.TunnelID)
	a.add(r.Node)
	a.known(r.HasPort, r.Port)
	a.add(r.Packets)
}

func appendBurst(a *appender, b *telemetry.Burst) {
	a.add(b.Start.UTC(), b.ID, b.Node, b.Port, b.Queue, b.Peak.UTC(), b.End.UTC(), int64(b.DurationNs), int64(b.StartSlackNs), int64(b.EndSlackNs), b.Open)
	a.add(b.PeakBytes, int64(b.PeakDelayNs), b.AboveBytes, b.BelowBytes, b.Packets, b.Bytes, b.Drops, b.Complete)
	a.add(uint32(b.Sources), uint32(b.MainSources), b.Incast, uint32(b.OtherFlows), b.OtherBytes)
}

func appendBurstFlow(a *appender, r *telemetry.BurstFlow) {
	a.add(r.Burst.Start.UTC(), r.Burst.ID, r.Culprit)
	a.endpoints(r.Flow)
	a.add(r.Packets, r.Bytes, r.Drops)
	a.known(r.Culprit, r.BuildUpBytes)
	a.known(r.Culprit, r.Share)
	a.known(!r.Culprit, int64(r.ExtraNs))
	a.known(!r.Culprit, int64(r.MaxExtraNs))
}

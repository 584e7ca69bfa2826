package duckdb

import "fmt"

// macros are functions that queries can use.
var macros = []string{
	// The buckets of a histogram: the least value, the largest one less, where between them the mean is if nothing else
	// is known, how many values, and how many up to here.
	`CREATE MACRO histogram_ends(scale, buckets, counts, low, high) AS list_transform(list_transform(range(1, len(counts) + 1), lambda i: {
			'lo': greatest(CASE WHEN buckets[i] > 0 THEN ceil(pow(2, buckets[i] * pow(2, -scale))) ELSE 0 END, low),
			'hi': least(ceil(pow(2, (buckets[i] + 1) * pow(2, -scale))) - 1, high),
			'n': CAST(counts[i] AS DOUBLE), 'upto': CAST(list_sum(counts[1:i]) AS DOUBLE)}),
		lambda b: {'lo': b.lo, 'width': greatest(b.hi - b.lo, 0), 'mean': 1 / (1 + cbrt(greatest(b.hi, 1) / greatest(b.lo, 1))), 'n': b.n, 'upto': b.upto})`,
	// The value below which the share q of the values of a histogram lies, as telemetry.Histogram.Quantile has it.
	// Extremes and mean of the values make it better. Lambdas of one value give names: h has the buckets, s what their
	// means are wrong by, b is the bucket that has the value, m where its mean is.
	`CREATE MACRO histogram_quantile(scale, buckets, counts, q, low := NULL, high := NULL, mean := NULL) AS CAST(list_transform([{
			'ends': histogram_ends(scale, buckets, counts, low, high),
			'total': list_sum(counts),
			'rank': greatest(ceil(CAST(q AS DOUBLE) * list_sum(counts)), 1)}],
		lambda h: list_transform([{
				'off': mean * h.total - list_sum(list_transform(h.ends, lambda b: b.n * (b.lo + b.width * b.mean))),
				'squares': list_sum(list_transform(h.ends, lambda b: pow(b.n * b.width, 2)))}],
			lambda s: list_transform(list_filter(h.ends, lambda b: b.upto >= h.rank)[1:1],
				lambda b: CASE h.rank WHEN 1 THEN b.lo WHEN h.total THEN b.lo + b.width ELSE b.lo + list_transform(
					[least(greatest(b.mean + coalesce(s.off * b.n * b.width / nullif(s.squares, 0), 0), 0), 1)],
					lambda m: round(b.width * (m + least(m, 1 - m) * ((2 * (h.rank - b.upto + b.n) - 1) / b.n - 1))))[1] END)[1])[1])[1] AS BIGINT)`,
}

// topologyMacros are tables that say when something was there: links_between and hosts_between. They need the views.
func topologyMacros() []string {
	return []string{
		validity("links", "from_node, from_port, to_node, to_port"),
		validity("hosts", "address_hi, address_lo, tunnel, tunnel_id, node, port"),
	}
}

// validity is a macro NAME_between(since, until, silence := INTERVAL 5 MINUTE) with a row for each time of things with
// these keys that touches the range: from first to last it was never silent for longer. It looks at hours where minutes
// are no longer kept, and at ten seconds where there are no minutes yet.
func validity(name, keys string) string {
	piece := func(table, length, where string) string {
		return fmt.Sprintf(
			"SELECT %s, packets, start AS b, start + %s AS e FROM memory.main.%s_%s WHERE start > since - %s - silence AND start <= until + silence%s",
			keys, length, name, table, length, where)
	}
	minutes := "(SELECT coalesce(%s(start), TIMESTAMP_NS '%s') FROM memory.main." + name + "_1m)"
	return fmt.Sprintf(
		`CREATE OR REPLACE MACRO memory.main.%s_between(since, until, silence := INTERVAL 5 MINUTE) AS TABLE
		SELECT %s, min(b) AS first, max(e) AS last, CAST(sum(packets) AS UBIGINT) AS packets FROM (
			SELECT *, count(*) FILTER (fresh) OVER (PARTITION BY %s ORDER BY b ROWS UNBOUNDED PRECEDING) AS run FROM (
				SELECT *, coalesce(b > max(e) OVER (PARTITION BY %s ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + silence, true) AS fresh FROM (
					%s UNION ALL %s UNION ALL %s)))
		GROUP BY %s, run HAVING max(e) > since AND min(b) <= until ORDER BY first`,
		name, keys, keys, keys,
		piece("10s", "INTERVAL 10 SECOND", " AND start >= "+fmt.Sprintf(minutes, "max", "1970-01-01")+
			" + INTERVAL 1 MINUTE"),
		piece("1m", "INTERVAL 1 MINUTE", ""),
		piece("1h", "INTERVAL 1 HOUR", " AND start + INTERVAL 1 HOUR <= "+fmt.Sprintf(minutes, "min", "2262-01-01")),
		keys,
	)
}

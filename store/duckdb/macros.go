package duckdb

// macros are functions that queries can use.
var macros = []string{
	// The text of an address in two columns.
	`CREATE MACRO address(hi, lo) AS CASE WHEN hi = 0 AND lo >> 32 = 65535
		THEN printf('%d.%d.%d.%d', (lo >> 24) & 255, (lo >> 16) & 255, (lo >> 8) & 255, lo & 255)
		ELSE printf('%x:%x:%x:%x:%x:%x:%x:%x', hi >> 48, (hi >> 32) & 65535, (hi >> 16) & 65535, hi & 65535,
			lo >> 48, (lo >> 32) & 65535, (lo >> 16) & 65535, lo & 65535) END`,
	// The value below which the share q of the values of a histogram lies.
	`CREATE MACRO histogram_quantile(scale, buckets, counts, q) AS CAST(round(pow(2, (buckets[list_position(
		list_transform(range(1, len(counts) + 1), lambda i: list_sum(counts[1:i]) >= greatest(ceil(q * list_sum(counts)), 1)), true)] + 0.5)
		* pow(2, -scale))) AS BIGINT)`,
}

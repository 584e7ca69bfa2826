package filter

import "slices"

// dropFields are those of telemetry.Drop; the endpoints are of the latest packet.
var dropFields = slices.Concat(
	place(),
	[]Field{
		{Name: "reason", Kind: Uint, Doc: "number of the drop reason"},
		{Name: "reason_name", Kind: Text, Doc: "name of the drop reason in the dialect's table, else reason_N"},
		{Name: "packets", Aliases: []string{"drops"}, Kind: Uint, Doc: "packets that were dropped"},
		{Name: "drop_key", Kind: Text, Doc: "Transparent Security: the rule that dropped"},
	},
	endpoints(" of the latest packet"), seen(),
)

// exporterFields are those of telemetry.Exporter.
var exporterFields = slices.Concat(
	[]Field{{Name: "source", Kind: Address, Doc: "address that sends the reports"}},
	without(place(), "ingress_port", "egress_port"),
	[]Field{
		{Name: "hw_id", Kind: Uint, Doc: "hardware id in the reports"},
		{Name: "version", Kind: Text, Doc: `version of the reports, "2.0"`},
		{Name: "dialect", Kind: Text, Doc: "dialect of the reports"},
		{Name: "received", Kind: Uint, Doc: "datagrams received"},
		{Name: "reports", Kind: Uint, Doc: "usable reports in them"},
		{Name: "lost", Kind: Uint, Doc: "datagrams that are missing, where sequence numbers tell"},
		{
			Name: "completeness", Kind: Ratio, Column: "(received / nullif(received + lost, 0))",
			Doc: "share of the datagrams that arrived, where sequence numbers tell",
		},
		{Name: "loss_known", Kind: Text, Doc: `"yes", or "no:" and why`},
		{Name: "reordered", Kind: Uint, Doc: "datagrams that came late"},
		{Name: "duplicate", Kind: Uint, Doc: "datagrams that came again"},
		{Name: "restarted", Kind: Uint, Doc: "how often the numbers began anew"},
		{Name: "damaged", Kind: Uint, Doc: "datagrams of which a part could be read"},
		{Name: "malformed", Kind: Uint, Doc: "datagrams of which nothing could be read"},
	},
	seen(),
)

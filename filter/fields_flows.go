package filter

import "slices"

// flowFields are those of telemetry.Flow; "node" and "hop" are of the path of its latest packet.
var flowFields = slices.Concat(
	[]Field{{Name: "id", Aliases: []string{"flow"}, Kind: Text, Doc: "id of the flow"}},
	endpoints(""),
	[]Field{
		{Name: "outer.src", Kind: Address, Doc: "source address of the tunnel"},
		{Name: "outer.dst", Kind: Address, Doc: "destination address of the tunnel"},
		{Name: "dscp", Kind: Uint, Doc: "DSCP of the latest packet"},
		{Name: "reports", Kind: Uint, Doc: "reports about it"},
		{Name: "packets", Kind: Uint, Doc: "packets that reports tell of"},
		{Name: "bytes", Kind: Size, Doc: "IP lengths of those packets, without INT"},
		{Name: "drops", Kind: Uint, Doc: "packets that were reported as dropped"},
		{Name: "device", Kind: Text, Doc: "Transparent Security source device"},
		{Name: "path", Kind: Text, Many: true, Doc: "id of each path that is remembered"},
		{Name: "path_changes", Kind: Uint, Doc: "how often it took another path than the packet before"},
	},
	stations(), delays(), seen(),
)

// pathFields are those of telemetry.Path.
var pathFields = slices.Concat(
	[]Field{
		{Name: "id", Aliases: []string{"path"}, Kind: Text, Doc: "id of the path"},
		{Name: "flows", Kind: Uint, Doc: "flows whose latest packet took it"},
		{Name: "packets", Kind: Uint, Doc: "packets seen on all of it"},
		{Name: "incomplete", Kind: Uint, Doc: "further packets of which some postcards are missing"},
		{Name: "dropped", Kind: Bool, Doc: "packets were dropped at its last hop"},
		{Name: "clock_errors", Kind: Uint, Doc: "packets whose end-to-end time contradicts their residence time"},
		{Name: "uncertain", Kind: Bool, Doc: "the order of some hops is that in which their postcards came"},
	},
	stations(), delays(), seen(),
)

package drop

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// Prefixes returns the prefix that all destinations have in common, for each version of IP.
func Prefixes(destinations map[telemetry.Addr]bool) string {
	prefixes := map[int]netip.Prefix{}
	for to := range destinations {
		address := to.IP()
		common, ok := prefixes[address.BitLen()]
		if !ok {
			common = netip.PrefixFrom(address, address.BitLen())
		}
		for !common.Contains(address) {
			common = netip.PrefixFrom(common.Addr(), common.Bits()-1)
		}
		prefixes[address.BitLen()] = common.Masked()
	}
	var list []string
	for _, p := range prefixes {
		list = append(list, strings.TrimSuffix(p.String(), fmt.Sprint("/", p.Addr().BitLen())))
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return strings.Join(list, " and ")
}

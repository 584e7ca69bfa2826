package expect

// A Rule is why something is not compared.
type Rule string

// Rules.
const (
	// RuleSpokeTwice: a switch reported what looks like the same packet for a second time (INT-XD and INT-MX: packets
	// without anything that tells them apart, as IPv6 acknowledgements that repeat the one before, and packets long in
	// a loop). The first is taken as complete at once then, and not when its window is over, so that it comes before
	// packets of its flow that were sent earlier or behind them, as the wall clock has it.
	RuleSpokeTwice Rule = "a switch spoke twice about packets that look alike: their place among the others is not defined"

	// RuleLateDrop: a flow has reports with a stack, which count at once, and reports without, which wait for 500 ms of
	// wall time for further postcards (INT-MD: a packet that the source drops has no stack). In fast motion the latter
	// come last.
	RuleLateDrop Rule = "drops at the source wait for postcards: their place among the stacks is not defined"

	// RuleWorkers: a collector with several workers takes the reports of some switches here and of others there, side
	// by side.
	RuleWorkers Rule = "several workers: the order of the reports of different switches is not defined"

	// RuleForgotten: a collector keeps two paths of a flow. Which of more they are depends on the order of packets,
	// which is not defined by one of the rules above.
	RuleForgotten Rule = "of more than two paths a flow keeps the latest, and which that are is not defined"
)

// rules says of which flows and paths the order of packets is not known.
func (c *collector) rules() {
	for _, f := range c.order {
		if c.Unordered {
			f.rule = RuleWorkers
		}
		if f.rule == "" && f.stacks && f.postcards {
			f.rule = RuleLateDrop
		}
		if f.rule != "" {
			for p := range f.taken {
				p.rule = f.rule
			}
		}
	}
}

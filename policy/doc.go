// Package policy says what a network should look like to its packets: which nodes and interfaces there are, and on
// which paths the packets of a flow may go. docs/reference/policy.md describes the file.
//
//	p, err := policy.Load(text)
//	breaches = p.Judge(&flow, dscp, hops, true, breaches[:0])
//
// A Policy never changes, so any number of goroutines may share it, and nothing that it is asked allocates once
// breaches has grown. Rules are compared with a flow one after the other, some ns each: a flow is judged once for each
// path that it takes.
//
// To add a key of a rule: 1. its field in rule, 2. what it means in rule.matches or rule.judge, 3. a case in the tests,
// 4. a row in docs/reference/policy.md.
package policy

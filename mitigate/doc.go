// Package mitigate acts on attacks: it makes rules of an attack that say which packets shall be dropped, gives them to
// an Actor that drops them, and takes them back. Nothing happens unless a person asks for it, or Automatic is
// configured.
//
//	attack -> plan -> rules -> Actor: filters of nodes, BGP, a webhook -> withdrawn at the end, by release, or in time
//
// Everything is bounded: a rule has a time to live, there are MaxRules at a time, attacks that are mitigated together
// are at most MaxShare of all traffic, and addresses of Safe and Own are never the target or the source of a rule.
// Rules of an attack are sent all or none; what cannot be taken back is tried again, and said in the state of the rule.
//
// Every action is a line of the audit file, which is only ever added to, and of the log. Rules are kept in a file
// before they are sent, and sent again after a restart until their time is over; without a directory for it they are
// withdrawn when the manager stops.
package mitigate

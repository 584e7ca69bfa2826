// Package finding keeps what single reports and the paths of flows show to be wrong: paths that break the policy or
// lack nodes, packets to which nodes could add no metadata, and metadata that contradict themselves or each other. A
// finding is a kind and a place.
package finding

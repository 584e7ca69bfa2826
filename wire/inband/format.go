package inband

// A Format says how a record is laid out: the meaning and width of each instruction bit.
type Format uint8

// The formats. The Long ones are dialects of GEANT and Montimage, see Widths04Long and Widths10Long; the Short one is
// of INTCollector, see Widths10Short.
const (
	Format2016 Format = iota + 1
	Format05
	Format05Long
	Format10
	Format10Long
	Format10Short
	Format20
)

// Widths returns the widths of f's instruction bits.
func (f Format) Widths() *Widths {
	switch f {
	case Format2016:
		return &Widths2016
	case Format05:
		return &Widths05
	case Format05Long:
		return &Widths04Long
	case Format10:
		return &Widths10
	case Format10Long:
		return &Widths10Long
	case Format10Short:
		return &Widths10Short
	}
	return &Widths20
}

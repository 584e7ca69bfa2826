package types

// A DecodeAnswer answers POST /api/v1/decode.
type DecodeAnswer struct {
	Length int            `json:"length"` // bytes
	Layers []DecodedLayer `json:"layers"`
}

// DecodeCommands answers /api/v1/events/ID/decode.
type DecodeCommands struct {
	// Commands are of waybill decode: more than one where the report may have come in one of several dialects.
	Commands []string `json:"commands"`
}

// A DecodedLayer is one header of a packet, and where it stands in its bytes.
type DecodedLayer struct {
	// Name is that of `waybill decode -o json`, such as "ipv4"; empty for a rule that is broken where the next header
	// would be.
	Name   string         `json:"name"`
	Title  string         `json:"title,omitempty"` // what people call it
	Offset int            `json:"offset"`          // of its first byte
	Length int            `json:"length"`          // bytes
	Fields []DecodedField `json:"fields"`
}

// A DecodedField is one value of a header, a group of them, or a list: the elements of a list are fields [0], [1], ...
type DecodedField struct {
	Name string `json:"name"`
	// Value is a number, a boolean, a text or a list of texts; a group has none. Numbers of 54 bits and more are
	// hexadecimal texts.
	Value   any    `json:"value,omitempty"`
	Text    string `json:"text"`              // the value with its unit, as people read it
	Meaning string `json:"meaning,omitempty"` // what it stands for
	Error   bool   `json:"error,omitempty"`   // a rule is broken here: the value is its code, the text what it says
	// Offset and Length are the bytes that the value is in, all or in part; Length is 0 where it was derived from
	// others.
	Offset int          `json:"offset"`
	Length int          `json:"length"`
	Bits   *DecodedBits `json:"bits,omitempty"` // of a value that has a part of its bytes only
	// Fields are those of a group or list, Layers those of a packet inside this one.
	Fields []DecodedField `json:"fields,omitempty"`
	Layers []DecodedLayer `json:"layers,omitempty"`
}

// DecodedBits say which bits of the bytes of a field are its value.
type DecodedBits struct {
	First int `json:"first"` // from the most significant bit of the byte at its offset, which is 0
	Count int `json:"count"`
}

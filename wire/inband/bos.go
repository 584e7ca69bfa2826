package inband

// BOSIndex returns the index of the first word of stack with the bottom of stack bit of INT 2016 (§5.3.3), which is the
// top bit of the word, or -1 if there is none.
func BOSIndex(stack []byte) int {
	for i := 0; i+4 <= len(stack); i += 4 {
		if stack[i]&0x80 != 0 {
			return i / 4
		}
	}
	return -1
}

// LooksLike2016 is a hint for headers that Identify calls Version05 without being configured: INT of June 2016 and
// INT 0.5 have the same header when Rep, C and E are zero, but only June 2016 marks the bottom of the stack. It reports
// whether exactly the last word of stack has its top bit set. Over TCP and UDP it is never June 2016.
func LooksLike2016(stack []byte) bool {
	return len(stack) > 0 && len(stack)%4 == 0 && BOSIndex(stack) == len(stack)/4-1
}

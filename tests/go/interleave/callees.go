package interleave

// callees finds which functions a text calls, by way of other functions too.
type callees struct {
	bodies   map[string]string // of functions by name, and of views
	triggers set               // functions of triggers, which any statement may call
	known    map[string]set
}

// mayCall reports whether a statement may call a function.
func (c *callees) mayCall(statement, function string) bool {
	return c.triggers[function] || c.of(statement)[function]
}

// of returns the functions that a text calls.
func (c *callees) of(text string) set {
	if known, ok := c.known[text]; ok {
		return known
	}
	found := set{}
	c.collect(text, found)
	c.known[text] = found
	return found
}

func (c *callees) collect(text string, found set) {
	for _, m := range named.FindAllStringSubmatch(withoutComments(text), -1) {
		if body, ok := c.bodies[m[1]]; ok && !found[m[1]] {
			found[m[1]] = true
			c.collect(body, found)
		}
	}
}

package shard

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Count is the number of slots.
const Count = 256

// Slot returns the slot of a shard key, 0 to 255: the first byte of the SHA-256 of its UTF-8 text.
func Slot(key string) int {
	sum := sha256.Sum256([]byte(key))
	return int(sum[0])
}

// Slots is a set of slots. Its zero value is empty. Sets can be compared with ==.
type Slots [Count / 64]uint64

// Range returns the slots from first to last.
func Range(first, last int) (s Slots) {
	for slot := first; slot <= last; slot++ {
		s.Add(slot)
	}
	return s
}

// ParseSlots reads a list of slots and ranges such as "0-63, 200", or "none".
func ParseSlots(text string) (s Slots, err error) {
	if strings.TrimSpace(text) == "none" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, errFirst := strconv.Atoi(strings.TrimSpace(from))
		last, errLast := strconv.Atoi(strings.TrimSpace(to))
		switch {
		case errFirst != nil || errLast != nil:
			return s, fmt.Errorf("%q is neither a slot nor a range of slots such as 0-63", part)
		case first < 0 || last >= Count:
			return s, fmt.Errorf("%q is out of range: slots are 0 to %d", part, Count-1)
		case first > last:
			return s, fmt.Errorf("%q is an empty range; write the lower slot first", part)
		}
		for slot := first; slot <= last; slot++ {
			if s.Has(slot) {
				return s, fmt.Errorf("slot %d occurs twice", slot)
			}
			s.Add(slot)
		}
	}
	return s, nil
}

// Add adds a slot, 0 to 255, to the set.
func (s *Slots) Add(slot int) { s[slot/64] |= 1 << (slot % 64) }

// Has reports whether a slot, 0 to 255, is in the set.
func (s Slots) Has(slot int) bool { return s[slot/64]&(1<<(slot%64)) != 0 }

// Len returns the number of slots in the set.
func (s Slots) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// List returns the slots in ascending order.
func (s Slots) List() []int {
	list := make([]int, 0, s.Len())
	for slot := range Count {
		if s.Has(slot) {
			list = append(list, slot)
		}
	}
	return list
}

// String returns the set as [ParseSlots] reads it, such as "0-63, 200".
func (s Slots) String() string {
	var parts []string
	for slot := 0; slot < Count; slot++ {
		if !s.Has(slot) {
			continue
		}
		first := slot
		for slot+1 < Count && s.Has(slot+1) {
			slot++
		}
		if first == slot {
			parts = append(parts, strconv.Itoa(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, slot))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

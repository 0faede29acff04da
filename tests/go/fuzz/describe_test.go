package fuzz

import (
	"fmt"
	"reflect"
	"strings"
)

// describe formats a request or a row, field by field; of long texts only both ends.
func describe(value any) string { return describeValue(reflect.ValueOf(value)) }

func describeValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		const end = 150
		if s := v.String(); len(s) > 2*end {
			return fmt.Sprintf("%+q...%+q (%d bytes)", s[:end], s[len(s)-end:], len(s))
		}
		return fmt.Sprintf("%+q", v)
	case reflect.Slice:
		if v.IsNil() {
			return "null"
		}
		elements := make([]string, v.Len())
		for i := range elements {
			elements[i] = describeValue(v.Index(i))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case reflect.Struct:
		if valid := v.FieldByName("Valid"); valid.IsValid() {
			if !valid.Bool() {
				return "null"
			}
			return describeValue(v.FieldByName("V"))
		}
		fields := make([]string, v.NumField())
		for i := range fields {
			fields[i] = v.Type().Field(i).Name + ": " + describeValue(v.Field(i))
		}
		return "\n  {" + strings.Join(fields, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// differences returns an error that names the columns in which a row differs from what it should be, nil if there is none.
func differences(got, want job) error {
	if got == want {
		return nil
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	var columns []string
	for i := range g.NumField() {
		if is, should := g.Field(i), w.Field(i); !is.Equal(should) {
			columns = append(columns, fmt.Sprintf("%s is %s, want %s", g.Type().Field(i).Name, describeValue(is),
				describeValue(should)))
		}
	}
	return fmt.Errorf("job %d: %s", got.id, strings.Join(columns, "; "))
}

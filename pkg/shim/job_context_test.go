package shim

import (
	"context"
	"errors"
	"testing"
	"time"
)

var errWhy = errors.New("why")

func TestAHandlersContextEndsForWhoeverLooksBeforeOrAfter(t *testing.T) {
	for _, looksBefore := range []bool{true, false} {
		c := &handlerContext{Context: t.Context(), job: &Job{}}
		if looksBefore && (c.Err() != nil || c.reason() != nil) {
			t.Error("it has ended before its end")
		}
		c.end(errWhy)
		c.end(nil)
		if c.reason() != errWhy || c.Err() != context.Canceled || context.Cause(c) != errWhy {
			t.Errorf("looked before: %t: reason %v, err %v, cause %v", looksBefore, c.reason(), c.Err(),
				context.Cause(c))
		}
		<-c.Done()
	}
}

func TestAHandlersContextEndsWithItsParentAndBeforeItsChildren(t *testing.T) {
	for _, looksBefore := range []bool{true, false} {
		parent, cut := context.WithCancelCause(t.Context())
		c := &handlerContext{Context: parent, job: &Job{}}
		if looksBefore {
			child, cancel := context.WithTimeout(c, time.Hour)
			defer cancel()
			defer func() {
				<-child.Done()
				if context.Cause(child) != errWhy {
					t.Errorf("the child ended because of %v", context.Cause(child))
				}
			}()
		}
		cut(errWhy)
		if c.reason() != errWhy || context.Cause(c) != errWhy || c.Err() == nil {
			t.Errorf("looked before: %t: reason %v, cause %v", looksBefore, c.reason(), context.Cause(c))
		}
		<-c.Done()
	}
}

func TestAHandlersContextHasTheValuesOfItsParentAndTheJob(t *testing.T) {
	type key struct{}
	job := &Job{}
	c := &handlerContext{Context: context.WithValue(t.Context(), key{}, "value"), job: job}
	child, cancel := context.WithCancel(c)
	defer cancel()
	if found, ok := JobFromContext(child); !ok || found != job || child.Value(key{}) != "value" {
		t.Errorf("found %p, %v", found, child.Value(key{}))
	}
}

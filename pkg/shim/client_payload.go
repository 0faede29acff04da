package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// encodePayload returns the JSON text of a payload, nil for none. A json.RawMessage is returned unchanged.
func encodePayload(payload any) (*string, error) {
	switch payload := payload.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if payload == nil {
			return nil, nil
		}
		if !json.Valid(payload) || !utf8.Valid(payload) {
			return nil, errors.New("encode payload: the json.RawMessage is not valid JSON")
		}
		return new(string(payload)), nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(payload); err != nil {
		return nil, fmt.Errorf("encode payload: %w", err)
	}
	return new(string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))), nil
}

// encodeBatch returns the JSON text of a payload that is an array with at least one element.
func encodeBatch(items any) (*string, error) {
	text, err := encodePayload(items)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, ErrEmptyBatch
	}
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(*text), &elements); err != nil {
		return nil, fmt.Errorf("a batch must be a list, not %T", items)
	}
	if len(elements) == 0 { // a nil slice becomes null
		return nil, ErrEmptyBatch
	}
	return text, nil
}

package crontab

import "testing"

// tests/go/crontab compares many more with npm's json5.
func TestJSON5BecomesJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              `{}`,
		`{b: 1, a: 'x',}`:                 `{"a":"x","b":1}`,
		`{a: 1, a: 2}`:                    `{"a":2}`,
		`{$: [1, 2,], _1: {}}`:            `{"$":[1,2],"_1":{}}`,
		`{true: true, null: null, NaN:1}`: `{"NaN":1,"null":null,"true":true}`,
		`{a: [NaN, Infinity, -Infinity, +Infinity, -NaN]}`:                 `{"a":[null,null,null,null,null]}`,
		`{a: [+1, -.5, 5., 0x1F, -0x1, 1e3, 1E-7, -0, 0.0]}`:               `{"a":[1,-0.5,5,31,-1,1000,1e-7,0,0]}`,
		`{a: [9007199254740993, 0xFFFFFFFFFFFFFFFFFF, 1e400, 1e21, 1e20]}`: `{"a":[9007199254740992,4.722366482869645e+21,null,1e+21,100000000000000000000]}`,
		`{a: '\x41\v\0\d\'\"\\\b\f\n\r\t\/', b: "it's"}`:                   `{"a":"A\u000b\u0000d'\"\\\b\f\n\r\t/","b":"it's"}`,
		`{a: "\ud83d\ude00\u00e9😀", b: '\ud83d', c: '\ude00\ud83d'}`: `{"a":"😀é😀","b":"` + "\uFFFD" +
			`","c":"` + "\uFFFD\uFFFD" + `"}`,
		`{é: 1, \u0061b: 2, 𝒳: 3, a\u200c: 4, Ⅷ: 5}`: `{"ab":2,"a` + "\u200c" +
			`":4,"é":1,"Ⅷ":5,"𝒳":3}`,
		"{a:\u00a0\ufeff\u20031\u3000, b: 'tab\there'}":                         `{"a":1,"b":"tab\there"}`,
		`{/**/a/* * b / c **/:/* } */1/***/}/* { }*/ // }`:                      `{"a":1}`,
		`{a: '// no', "/*": '*/'}`:                                              `{"/*":"*/","a":"// no"}`,
		`{a: '<b> & </b>'}`:                                                     `{"a":"<b> & </b>"}`,
		`{"__proto__": 1}`:                                                      `{"__proto__":1}`,
		`{a: {b: {c: [[[{}]]]}}}`:                                               `{"a":{"b":{"c":[[[{}]]]}}}`,
		`{a: 123456789012345678901234567890123456789012345678901234567890}`:     `{"a":1.2345678901234567e+59}`,
		`{a: 0.1234567890123456789, b: 100.0, c: 5.e1, d: 0e9, e: 0.000000001}`: `{"a":0.12345678901234568,"b":100,"c":50,"d":0,"e":1e-9}`,
	} {
		if got, err := parseJSON5(text); err != nil || string(got) != want {
			t.Errorf("%s: got %s and %v, want %s", text, got, err, want)
		}
	}
}

func TestWhatIsNotJSON5IsRefusedWhereItGoesWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                   "JSON5: invalid end of input at 1:2",
		`{a`:                  "JSON5: invalid end of input at 1:3",
		`{a: 1 // }`:          "JSON5: invalid end of input at 1:11",
		`{a: 1 /* }`:          "JSON5: invalid end of input at 1:11",
		`{a: 'it}`:            "JSON5: invalid end of input at 1:9",
		`{a: '\`:              "JSON5: invalid end of input at 1:7",
		`{a: '\u12`:           "JSON5: invalid end of input at 1:10",
		`{a}`:                 "JSON5: invalid character '}' at 1:3",
		`{a: }`:               "JSON5: invalid character '}' at 1:5",
		`{a: b}`:              "JSON5: invalid character 'b' at 1:5",
		`{a: undefined}`:      "JSON5: invalid character 'u' at 1:5",
		`{a: True}`:           "JSON5: invalid character 'T' at 1:5",
		`{a: nul}`:            "JSON5: invalid character '}' at 1:8",
		`{a: 1 2}`:            "JSON5: invalid character '2' at 1:7",
		`{a: 1_000}`:          "JSON5: invalid character '_' at 1:6",
		`{a: 01}`:             "JSON5: invalid character '1' at 1:6",
		`{a: - 1}`:            "JSON5: invalid character ' ' at 1:6",
		`{a: --1}`:            "JSON5: invalid character '-' at 1:6",
		`{a: 0x}`:             "JSON5: invalid character '}' at 1:7",
		`{a: .}`:              "JSON5: invalid character '}' at 1:6",
		`{a: 1e}`:             "JSON5: invalid character '}' at 1:7",
		`{a: 1.2.3}`:          "JSON5: invalid character '.' at 1:8",
		`{a-b: 1}`:            "JSON5: invalid character '-' at 1:3",
		`{a: 1+2}`:            "JSON5: invalid character '+' at 1:6",
		`{a+1: 2}`:            "JSON5: invalid character '+' at 1:3",
		`{-Infinity: 1}`:      "JSON5: invalid character '-' at 1:2",
		`{1: 1}`:              "JSON5: invalid character '1' at 1:2",
		`{,}`:                 "JSON5: invalid character ',' at 1:2",
		`{a: 1,,}`:            "JSON5: invalid character ',' at 1:7",
		`{a: [,]}`:            "JSON5: invalid character ',' at 1:6",
		`{a: [1}`:             "JSON5: invalid character '}' at 1:7",
		`{a: 1]}`:             "JSON5: invalid character ']' at 1:6",
		`{a: 1}}`:             "JSON5: invalid character '}' at 1:7",
		`{a: 1} {b: 2}`:       "JSON5: invalid character '{' at 1:8",
		`{a: 1} x}`:           "JSON5: invalid character 'x' at 1:8",
		`{a: '\1'}`:           `JSON5: invalid character '1' at 1:7`,
		`{a: '\01'}`:          `JSON5: invalid character '1' at 1:8`,
		`{a: '\xg'}`:          `JSON5: invalid character 'g' at 1:8`,
		`{a: '' ''}`:          `JSON5: invalid character '\'' at 1:8`,
		"{a: \x01}":           `JSON5: invalid character '\x01' at 1:5`,
		`{\x41: 1}`:           `JSON5: invalid character 'x' at 1:3`,
		`{\u0031: 1}`:         `JSON5: invalid identifier character at 1:2`,
		`{a\u0020: 1}`:        `JSON5: invalid identifier character at 1:3`,
		`{a: '😀', b: c}`:      "JSON5: invalid character 'c' at 1:14",
		`{a: 😀}`:              "JSON5: invalid character '😀' at 1:6",
		`{a/**/b: 1}`:         "JSON5: invalid character 'b' at 1:7",
		`{a: 1 'x}`:           `JSON5: invalid character '\'' at 1:7`,
		`{a: [é: 1]}`:         "JSON5: invalid character 'é' at 1:6",
		`{a: 0.x1}`:           "JSON5: invalid character 'x' at 1:7",
		`{a: [0\u0061]}`:      `JSON5: invalid character '\\' at 1:7`,
		`{a b, "\1"}`:         "JSON5: invalid character 'b' at 1:4",
		`{a: / 1}`:            "JSON5: invalid character ' ' at 1:6",
		`{a: 1 / * x * / }`:   "JSON5: invalid character ' ' at 1:8",
		`{a: "1" "2", \u00g}`: `JSON5: invalid character '\"' at 1:9`,
	} {
		if got, err := parseJSON5(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %s and %v, want %s", text, got, err, want)
		}
	}
}

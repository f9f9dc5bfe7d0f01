package main

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// settingFuncs take the name of one of Longhorn's settings, at this place.
var settingFuncs = map[string]int{"Setting": 0, "settingFor": 1, "numberOf": 1}

// settings is where the names of settings are kept in reads, asked that of the functions
// that were met.
const settings, asked = "setting", "asked"

// setting notes the name of a setting that is asked for.
func (r reads) setting(info *types.Info, c *ast.CallExpr) {
	if name, value := settingOf(info, c); value != nil && value.Kind() == constant.String {
		r.add(asked, name)
		r.add(settings, constant.StringVal(value))
	}
}

// settingOf is the function that a call asks for a setting, and the setting's name; nil when
// that is no constant.
func settingOf(info *types.Info, c *ast.CallExpr) (function string, value constant.Value) {
	obj := callee(info, c.Fun)
	if obj == nil {
		return "", nil
	}
	at, ok := settingFuncs[obj.Name()]
	if !ok || at >= len(c.Args) {
		return "", nil
	}
	return obj.Name(), info.Types[c.Args[at]].Value
}

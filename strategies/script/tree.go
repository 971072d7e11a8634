package script

import "reflect"

// EachNode calls visit for every pointer and slice in a part of a syntax tree, and for the
// variable of an interface type that a pointer is in, which visit may set: after those inside
// it. Embedded and unexported fields, which have positions, are left out.
func EachNode(v reflect.Value, visit func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Interface:
		EachNode(v.Elem(), visit)
	case reflect.Pointer:
		if !v.IsNil() {
			EachNode(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !v.Type().Field(i).Anonymous {
				EachNode(v.Field(i), visit)
			}
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			EachNode(v.Index(i), visit)
		}
	default:
		return
	}
	visit(v)
}

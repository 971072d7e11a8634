package wasmtest

// Frequency returns a strategy: it plays the opposite of what an opponent has played more
// often, and tosses a coin where both are alike. It is that of `strategies new`.
func Frequency() Module {
	surplus := Code(Get(0), I32(1), I32Add, I32(2), I32Shl) // the address of a counter; nobody is -1
	return Module{
		Pages: 1,
		About: "Frequency\nThe opposite of the opponent's more frequent choice.\n",
		Funcs: []Func{
			{Name: "choose", Params: "i", Results: "d", Locals: "i", Code: Code(
				surplus, Load(I32Load, 0), Tee(1), I32Eqz,
				If('d'), F64(0.5), Else, Get(1), I32(0), I32LtS, F64FromI32, End,
			)},
			{Name: "observe", Params: "iiiii", Code: Code(
				Get(4), I32(0), I32LtS, If(0), Return, End, // the opponent made no choice
				surplus, surplus, Load(I32Load, 0), Get(4), I32(1), I32Shl, I32(1), I32Sub, I32Add, Store(I32Store, 0),
			)},
		},
	}
}

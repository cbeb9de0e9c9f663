package dashboard

import "testing"

// BenchmarkKey is a key and the screen after it, among 2,000 tasks.
func BenchmarkKey(b *testing.B) {
	for name, open := range map[string][]string{"list": nil, "board": {"b"}, "help": {"?"}} {
		b.Run(name, func(b *testing.B) {
			s := openSession(b, crowd(b, 2000), 120, 40)
			s.press(open...)
			down, up := keyNamed(b, "j"), keyNamed(b, "k")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					_ = s.m.Update(down)
				} else {
					_ = s.m.Update(up)
				}
				_ = s.m.View()
			}
		})
	}
}

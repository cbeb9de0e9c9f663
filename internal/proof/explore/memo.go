package explore

// memo has what was answered: who asks the same question again gets the same answer, and no one works it out twice.
type memo[Question comparable, Answer any] map[Question]Answer

func (m memo[Question, Answer]) of(q Question, work func() Answer) Answer {
	answer, known := m[q]
	if !known {
		answer = work()
		m[q] = answer
	}
	return answer
}

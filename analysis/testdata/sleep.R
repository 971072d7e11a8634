# The reference values of joint_test.go: Rscript sleep.R
a <- sleep$extra[sleep$group == 1]
b <- sleep$extra[sleep$group == 2]
options(digits = 10)
print(t.test(a, b, paired = TRUE))
print(t.test(a, b))

# Reference values of the t-statistic mixture sequence: theorem 2 of T. L. Lai,
# Annals of Statistics 4 (1976), 265-280. Run: Rscript student.R > student.csv
# a solves alpha = 2 (1 - F(a) + a f(a)) with m-1 degrees of freedom, and |t| is
# critical after n values where (1 + t^2/(n-1))^n = n/m (1 + a^2/(m-1))^m.
cat("m,alpha,n,critical\n")
for (m in c(2, 10, 32)) for (alpha in c(0.5, 0.05, 0.001, 1e-7)) {
  p <- function(a) 2 * (pt(a, m - 1, lower.tail = FALSE) + a * dt(a, m - 1))
  u <- uniroot(function(l) log(p(exp(l))) - log(alpha), c(-10, 60), tol = 1e-13)
  a <- exp(u$root)
  for (n in c(m, m + 1, 100, 5000)) {
    l <- m * log1p(a^2 / (m - 1)) + log(n / m)
    cat(sprintf("%d,%g,%d,%.9g\n", m, alpha, n, sqrt((n - 1) * expm1(l / n))))
  }
}

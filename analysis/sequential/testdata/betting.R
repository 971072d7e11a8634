# Reference values of the hedged capital process with a fixed mixture of bets (I.
# Waudby-Smith and A. Ramdas, JRSS B 86 (2024), 1-27): evidence that a mean is
# above zero from values in [-1, 1], and the interval for a mean of values in
# [1, 1.5]. Run: Rscript betting.R > betting.csv
stakes <- 2^-(0:7)
weights <- c(1/2, rep(1/14, 7))
x <- ((0:199 * 7919) %% 101 - 45) / 100    # a fixed, spread-out sequence, mean about 0.05
capital <- function(g) { l <- sapply(stakes, function(s) sum(log1p(s * g))); max(l) + log(sum(weights * exp(l - max(l)))) }
cat("what,n,value\n")
for (n in c(1, 10, 50, 200)) cat(sprintf("evidence,%d,%.10g\n", n, capital(x[1:n])))
y <- 1.2 + (((0:199 * 7919) %% 101) %/% 4 - 12) / 140
for (n in c(1, 10, 50, 200)) {
  v <- y[1:n]
  low <- function(m) capital((v - m) / (m - 1)) - log(2 / 0.05)
  high <- function(m) capital((m - v) / (1.5 - m)) - log(2 / 0.05)
  l <- if (low(1 + 1e-9) < 0) 1 else uniroot(low, c(1 + 1e-9, mean(v)), tol = 1e-12)$root
  h <- if (high(1.5 - 1e-9) < 0) 1.5 else uniroot(high, c(mean(v), 1.5 - 1e-9), tol = 1e-12)$root
  cat(sprintf("low,%d,%.8f\nhigh,%d,%.8f\n", n, l, n, h))
}

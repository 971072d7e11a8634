# Reference values for TestHybrid: the hybrid interval and median-unbiased
# estimate of Andrews, Kitagawa and McCloskey (Quarterly Journal of Economics 139
# (2024), sections 4 and 5), from their formulas with base R and none of our
# code. The truncation points are theirs (L and U of section 4); the conditional
# distribution is that of a normal value truncated both to [L, U] and to c
# standard deviations around its mean; c is the quantile of the largest of n
# independent absolute normal values. R 4.2.2.
#
#   cd analysis/testdata && Rscript winner.R
alpha <- 0.05; beta <- alpha / 10
cases <- list(
  `close race` = list(x = c(1.30, 1.31, 1.29, 1.305), S = diag(4) * 0.01^2),
  `clear winner` = list(x = c(1.40, 1.30, 1.28), S = diag(3) * 0.005^2),
  `correlated` = list(x = c(0.9, 1.2, 1.1, 0.7, 1.15), S = 0.02 * 0.6^abs(outer(1:5, 1:5, "-"))),
  `unequal variances` = list(x = c(2.1, 2.0, 1.7), S = matrix(c(0.04, 0.05, 0, 0.05, 0.09, 0.01, 0, 0.01, 0.01), 3)),
  `twenty` = list(x = 1.25 + sin(1:20) / 100, S = diag(20) * 0.008^2 + 0.002^2)
)
out <- c("case,estimate,low,high")
for (name in names(cases)) {
  x <- cases[[name]]$x; S <- cases[[name]]$S; w <- which.max(x); y <- x[w]; v <- S[w, w]; s <- sqrt(v)
  z <- x - S[w, ] / v * y
  lower <- S[w, ] < v; upper <- S[w, ] > v
  bound <- function(k) v * (z[k] - z[w]) / (v - S[w, k])
  L <- if (any(lower)) max(bound(lower)) else -Inf
  U <- if (any(upper)) min(bound(upper)) else Inf
  c <- qnorm((1 + (1 - beta)^(1 / length(x))) / 2)
  F <- function(mu) {
    a <- max(L, mu - c * s); b <- min(U, mu + c * s)
    (pnorm(y, mu, s) - pnorm(a, mu, s)) / (pnorm(b, mu, s) - pnorm(a, mu, s))
  }
  solve <- function(p) uniroot(function(mu) F(mu) - p, c(y - c * s * (1 - 1e-9), y + c * s * (1 - 1e-9)), tol = 1e-13)$root
  g <- (alpha - beta) / (1 - beta)
  out <- c(out, sprintf("%s,%.10f,%.10f,%.10f", name, solve(0.5), solve(1 - g / 2), solve(g / 2)))
}
writeLines(out, "winner-reference.csv")

# Reference values for TestStepDown: p-values of the step-down procedure on the
# largest statistic, for all ordered pairs, from numerical integration (mvtnorm)
# instead of simulation, and with none of our code. Where the covariance is an
# estimate, each t is replaced by the normal quantile of the same p-value.
# R 4.2.2, mvtnorm 1.1-3.
#
#   cd analysis/testdata && Rscript ranking.R
library(mvtnorm)
set.seed(1)

# means, covariance of the means, degrees of freedom (0: infinitely many)
cases <- list(
  equal  = list(x = c(0.9, 0.5, 0.3, 0), V = diag(4) * 0.04, df = 0),
  course = list(x = c(3.1, 2.2, 2.0, 1.2, 0.1), V = outer(1:5, 1:5, function(i, j) 0.3 * 0.5^abs(i - j)) * (1 + outer(1:5, 1:5, function(i, j) (i == j) * i / 10)), df = 14),
  single = list(x = c(0, -1, -1.1, -1.2), V = matrix(0.02, 4, 4) + diag(c(0.1, 0.2, 0.05, 0.1)), df = 40)
)

alg <- GenzBretz(maxpts = 2e6, abseps = 2e-6)
for (name in names(cases)) {
  x <- cases[[name]]$x; V <- cases[[name]]$V; df <- cases[[name]]$df
  pairs <- t(combn(length(x), 2)) # x is sorted, so the first is the better one
  K <- matrix(0, nrow(pairs), length(x))
  for (k in seq_len(nrow(pairs))) K[k, pairs[k, ]] <- c(1, -1)
  se <- sqrt(diag(K %*% V %*% t(K)))
  t <- as.vector(K %*% x) / se
  if (df > 0) t <- -qnorm(pt(-t, df))
  R <- cov2cor(K %*% V %*% t(K))
  o <- order(-t); p <- numeric(length(t)); worst <- 0
  for (k in seq_along(o)) {
    c <- t[o[k]]
    upper <- rep(Inf, length(t)); upper[o[k:length(o)]] <- c # reversed ones all stay: lower is -c
    p1 <- 1 - pmvnorm(lower = rep(-c, length(t)), upper = upper, corr = R, algorithm = alg)
    worst <- max(worst, p1); p[o[k]] <- worst
  }
  for (k in seq_along(p)) cat(sprintf("%s,%d,%d,%.5f\n", name, pairs[k, 1] - 1, pairs[k, 2] - 1, p[k]))
}
# the covariances, lower triangles
for (name in names(cases)) { V <- cases[[name]]$V; for (i in seq_len(nrow(V))) cat(name, sprintf("%.10g", V[i, 1:i]), "\n") }

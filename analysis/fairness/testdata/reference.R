# Reference values of package fairness, by R: Rscript reference.R > reference.tsv
# Exact p-values of Pearson's statistic are enumerated here in another way than
# in the package: over all compositions of n into k cells.
out <- function(name, ...) cat(name, sprintf("%.12g", c(...)), sep = "\t", fill = FALSE); nl <- function() cat("\n")

exact <- function(counts) {
  n <- sum(counts); k <- length(counts); stat <- sum(counts^2); tail <- 0
  go <- function(cell, left, squares, logp) {
    if (cell == k) {
      if (squares + left^2 >= stat) tail <<- tail + exp(logp - lfactorial(left))
      return(invisible())
    }
    for (c in 0:left) go(cell + 1, left - c, squares + c^2, logp - lfactorial(c))
  }
  go(1, n, 0, lfactorial(n) - n * log(k))
  tail
}
for (counts in list(c(5, 1, 0, 2), c(2, 2, 2, 2), c(7, 0, 0, 0, 1), c(3, 1, 0, 2, 0, 1))) {
  out("exact", exact(counts), counts); nl()
}
for (counts in list(c(12, 8, 11, 9, 14, 6, 10, 10, 7, 13), c(30, 5, 9, 8, 12, 7, 9, 10, 8, 2))) {
  out("chisq", chisq.test(counts)$p.value, counts); nl()
}
for (x in list(c(7, 10, .5), c(60, 100, .5), c(0, 5, .5), c(3, 40, .2), c(20, 40, .3))) {
  out("binom", binom.test(x[1], x[2], x[3])$p.value, x); nl()
}
# Two groups: k of a + b successes, p in the first group and 1 - p in the second.
two <- function(k, a, b, p) {
  m <- sapply(0:(a + b), function(s) sum(dbinom(0:s, a, p) * dbinom(s - 0:s, b, 1 - p)))
  sum(m[m <= m[k + 1] * (1 + 1e-7)])
}
for (x in list(c(7, 10, 4, .4), c(2, 3, 12, .7), c(9, 20, 20, .5))) { out("two", two(x[1], x[2], x[3], x[4]), x); nl() }
for (df in c(1, 4, 9, 19)) {
  ncp <- uniroot(function(l) pchisq(qchisq(.95, df), df, ncp = l, lower.tail = FALSE) - .8, c(.1, 100), tol = 1e-12)$root
  out("ncp", ncp, df); nl()
}

# Reference values for TestStudentisedBootstrap: boot::boot.ci(type = "stud") of
# A. Canty and B. D. Ripley (package boot, after Davison and Hinkley 1997) for
# league values of which is given how often each occurred. R 4.2.2, boot 1.3-28.1,
# 100,000 replicates, so that what is left of chance lies in our 999.
#
#   cd analysis/testdata && Rscript bootstrap.R
library(boot)
set.seed(1)
cases <- list(
  `titles, skewed` = list(v = c(0, 1, 0.5, 1/3), n = c(150, 38, 9, 3)),
  `ranks of a strong player` = list(v = c(1, 1.5, 2, 2.5, 3, 4, 6), n = c(120, 14, 40, 6, 12, 6, 2)),
  `ranks of a middling player` = list(v = 1:8, n = c(20, 25, 30, 40, 35, 25, 15, 10)),
  `few leagues` = list(v = c(1, 2, 4), n = c(25, 10, 10))
)
out <- "case,values,counts,estimate,low,high"
for (name in names(cases)) {
  x <- rep(cases[[name]]$v, cases[[name]]$n)
  b <- boot(x, function(d, i) c(mean(d[i]), var(d[i]) / length(i)), R = 99999)
  ci <- boot.ci(b, type = "stud")$student
  out <- c(out, sprintf("\"%s\",%s,%s,%.8f,%.6f,%.6f", name, paste(sprintf("%.15g", cases[[name]]$v), collapse = " "),
    paste(cases[[name]]$n, collapse = " "), mean(x), ci[4], ci[5]))
}
writeLines(out, "bootstrap-reference.csv")

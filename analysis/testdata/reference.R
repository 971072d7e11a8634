# Reference values for TestReference: everything the package estimates, computed
# from the matches themselves with base R and none of our code.
#
#   go test ./analysis -run TestReference -update   # only if the matches change
#   cd analysis/testdata && Rscript reference.R
#
# Written for and run with R 4.2.2.

level <- 0.95
alpha <- 1 - level

# Korn and Graubard (1998): Clopper-Pearson with the effective number of trials,
# for a mean m in [lo, hi] with variance v of one league's value. NULL where
# league values are not mostly at a bound, or the events are not few.
few_events <- function(m, v, n, lo, hi) {
  p <- (m - lo) / (hi - lo)
  neff <- p * (1 - p) / (v / (hi - lo)^2 / n)
  events <- min(p, 1 - p) * neff
  if (!(events > 0 && events < n && events < 100)) return(NULL)
  neff <- neff * (qnorm(1 - alpha / 2) / qt(1 - alpha / 2, n - 1))^2
  c(m, lo + (hi - lo) * qbeta(alpha / 2, p * neff, neff - p * neff + 1),
    lo + (hi - lo) * qbeta(1 - alpha / 2, p * neff + 1, neff - p * neff))
}

# interval for the mean of league values x in [lo, hi]
interval <- function(x, lo, hi) {
  m <- mean(x)
  if (length(x) < 2) return(c(m, lo, hi))
  if (all(x == x[1])) {
    # the exact interval for no success in n trials, as a share of the range
    w <- binom.test(0, length(x), conf.level = level)$conf.int[2]
    return(c(m, m - w * (m - lo), m + w * (hi - m)))
  }
  few <- few_events(m, var(x), length(x), lo, hi)
  if (!is.null(few)) return(few)
  ci <- t.test(x, conf.level = level)$conf.int
  c(m, max(lo, ci[1]), min(hi, ci[2]))
}

# ratio estimate sum(x)/sum(m), Cochran (1977), chapter 6
ratio <- function(x, m) {
  x <- x[m > 0]; m <- m[m > 0]; n <- length(m)
  if (n == 0) return(c(NaN, 0, 1))
  r <- sum(x) / sum(m)
  if (n < 2) return(c(r, 0, 1))
  e <- x - r * m
  if (all(abs(e) < 1e-12)) {
    w <- binom.test(0, n, conf.level = level)$conf.int[2]
    return(c(r, r - w * r, r + w * (1 - r)))
  }
  se <- sqrt(n / (n - 1) * sum(e^2)) / sum(m)
  few <- few_events(r, n * se^2, n, 0, 1)
  if (!is.null(few)) return(few)
  c(r, max(0, r - qt(1 - alpha / 2, n - 1) * se), min(1, r + qt(1 - alpha / 2, n - 1) * se))
}

analyse <- function(name, even) {
  d <- read.csv(paste0(name, "-matches.csv"), na.strings = "NA")
  out <- list()
  put <- function(key, value) out[[length(out) + 1]] <<- list(key, value)
  put3 <- function(key, v) { put(paste0(key, ".estimate"), v[1]); put(paste0(key, ".low"), v[2]); put(paste0(key, ".high"), v[3]) }

  fa <- d$fault_a != "none"; fb <- d$fault_b != "none"
  clean <- !fa & !fb
  differ <- clean & d$choice_a != d$choice_b
  parity <- ifelse(d$number %% 2 == 0, "even", "odd")
  chance <- function(choice) ifelse(choice == "even", even, 1 - even)
  win_a <- (fb & !fa) | (differ & d$choice_a == parity)
  win_b <- (fa & !fb) | (differ & d$choice_b == parity)
  draw <- clean & !differ
  adjwin_a <- ifelse(differ, chance(d$choice_a), as.numeric(win_a))
  adjwin_b <- ifelse(differ, chance(d$choice_b), as.numeric(win_b))

  # one row for each player in each match
  long <- rbind(
    data.frame(league = d$league, player = d$player_a, other = d$player_b, win = win_a, lose = win_b | (fa & fb), draw = draw,
               tech = fa, adjwin = adjwin_a, differ = differ, clean = clean),
    data.frame(league = d$league, player = d$player_b, other = d$player_a, win = win_b, lose = win_a | (fa & fb), draw = draw,
               tech = fb, adjwin = adjwin_b, differ = differ, clean = clean))
  long$raw <- 3 * long$win + long$draw
  long$adj <- 3 * long$adjwin + long$draw

  technical <- any(!clean)
  adjrange <- if (technical) c(0, 3) else range(c(1, 3 * even, 3 * (1 - even)))
  winrange <- if (technical) c(0, 1) else c(0, max(even, 1 - even))
  players <- sort(unique(long$player)); n <- length(players)
  table_of <- function(column, f) tapply(long[[column]], list(long$league, long$player), f)
  raw <- table_of("raw", mean); adj <- table_of("adj", mean)
  total <- table_of("raw", sum)
  ranks <- t(apply(-total, 1, rank, ties.method = "average"))
  share <- t(apply(total, 1, function(p) (p == max(p)) / sum(p == max(p))))

  put("variance_ratio", mean(apply(raw, 2, var)) / mean(apply(adj, 2, var)))
  for (i in players) {
    mine <- long[long$player == i, ]
    key <- paste0("player", i, ".")
    put(paste0(key, "matches"), nrow(mine))
    put(paste0(key, "wins"), sum(mine$win)); put(paste0(key, "draws"), sum(mine$draw))
    put(paste0(key, "losses"), sum(mine$lose)); put(paste0(key, "technical_losses"), sum(mine$tech))
    put3(paste0(key, "win_rate"), interval(tapply(mine$win, mine$league, mean), 0, 1))
    put3(paste0(key, "adjusted_win_rate"), interval(tapply(mine$adjwin, mine$league, mean), winrange[1], winrange[2]))
    put3(paste0(key, "points"), interval(raw[, i], 0, 3))
    put3(paste0(key, "adjusted"), interval(adj[, i], adjrange[1], adjrange[2]))
    put3(paste0(key, "differ"), ratio(tapply(mine$differ, mine$league, sum), tapply(mine$clean, mine$league, sum)))
    put3(paste0(key, "champion_share"), interval(share[, i], 0, 1))
    put3(paste0(key, "rank"), interval(ranks[, i], 1, n))
    put3(paste0(key, "draw_rate"), interval(tapply(mine$draw, mine$league, mean), 0, 1))
    put3(paste0(key, "technical_rate"), interval(tapply(mine$tech, mine$league, mean), 0, 1))
    first <- sum(share[, i] == 1)
    put3(paste0(key, "first"), c(first / nrow(share), binom.test(first, nrow(share), conf.level = level)$conf.int))
  }
  for (i in players) for (j in players) if (i < j) {
    a <- long[long$player == i & long$other == j, ]; b <- long[long$player == j & long$other == i, ]
    key <- paste0("pair", i, "-", j, ".")
    put(paste0(key, "matches"), nrow(a)); put(paste0(key, "clean"), sum(a$clean))
    put(paste0(key, "wins_a"), sum(a$win)); put(paste0(key, "wins_b"), sum(b$win)); put(paste0(key, "draws"), sum(a$draw))
    put(paste0(key, "points_a"), mean(a$raw)); put(paste0(key, "points_b"), mean(b$raw))
    put(paste0(key, "adjusted_a"), mean(a$adj)); put(paste0(key, "adjusted_b"), mean(b$adj))
    put3(paste0(key, "differ"), ratio(tapply(a$differ, a$league, sum), tapply(a$clean, a$league, sum)))
  }
  compare <- function(what, values, pairs, lo, hi) {
    p <- sapply(pairs, function(ij) t.test(values[, ij[1]], values[, ij[2]], paired = TRUE)$p.value)
    corrected <- p.adjust(p, "holm")
    for (k in seq_along(pairs)) {
      i <- pairs[[k]][1]; j <- pairs[[k]][2]
      key <- paste0(what, i, "-", j, ".")
      put3(paste0(key, "difference"), interval(values[, i] - values[, j], lo, hi))
      put(paste0(key, "p"), p[k]); put(paste0(key, "corrected"), corrected[k])
    }
  }
  by_points <- function(values) order(-round(colMeans(values), 12), players)
  all_pairs <- function(o) combn(o, 2, simplify = FALSE)
  o <- by_points(adj)
  compare("adjusted", adj, all_pairs(o), -diff(adjrange), diff(adjrange))
  compare("raw", raw, all_pairs(by_points(raw)), -3, 3)

  lines <- sapply(out, function(kv) paste0(kv[[1]], ",", format(as.numeric(kv[[2]]), digits = 15, scientific = TRUE)))
  writeLines(c("key,value", lines), paste0(name, "-reference.csv"))
}

analyse("fair", 0.5)
analyse("biased", 0.7)

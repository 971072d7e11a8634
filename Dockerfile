# docker build -t strategylab . && docker run --rm strategylab experiment --runs 1000
FROM golang:1.26 AS build
WORKDIR /source
COPY . .
RUN make programs DIR=image/bin
RUN mkdir -p image/lab && cp -R scripts image/lab
RUN install -d -m 1777 image/lab image/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /source/image /
WORKDIR /lab
USER 65532:65532
ENTRYPOINT ["/bin/strategylab"]

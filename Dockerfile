# Images with gw-run and gw-migrate, which run as an unprivileged user. The default image contains only the two programs;
# --target shell adds a shell and its tools, for tasks that are scripts.
#
#   docker build --tag gw .
#   docker build --tag gw:shell --target shell .
#
# Tasks are in /worker/tasks, the crontab is /worker/crontab.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/ ./cmd/gw-run ./cmd/gw-migrate

FROM alpine:3.22 AS shell
RUN apk add --no-cache ca-certificates tzdata
COPY --from=build /out/ /usr/local/bin/
WORKDIR /worker
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gw-run"]

FROM scratch AS static
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/ /usr/local/bin/
ENV PATH=/usr/local/bin
WORKDIR /worker
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gw-run"]

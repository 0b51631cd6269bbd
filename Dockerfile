# A static binary on an empty base: docker run --rm -v "$PWD:/work" billhook check crds
FROM rust:1.89-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /source
COPY . .
RUN cargo build --profile packaging --locked --package billhook-cli

FROM scratch
COPY --from=build /source/target/packaging/billhook /billhook
# Webhooks without a CA bundle are trusted as the system trusts.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/billhook"]

# syntax=docker/dockerfile:1
# The command line: `docker run … scan`, `docker run … serve`.
# What is built is the same for every platform.
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --ignore-scripts && npm rebuild esbuild
COPY . .
RUN npm run build

FROM gcr.io/distroless/nodejs24-debian13:nonroot
COPY --from=build /app/package.json /app/LICENSE /app/
COPY --from=build /app/dist /app/dist
# The one package that is not in the bundle, and has no dependencies: `serve` without DATABASE_URL runs it.
COPY --from=build /app/node_modules/@electric-sql/pglite /app/node_modules/@electric-sql/pglite
# The user's own folder: `.scanstream/` and reports are written there. A directory that WORKDIR makes would be root's.
WORKDIR /home/nonroot
# Its version, revision and source are labels that release.yml sets.
LABEL org.opencontainers.image.title="scanstream" \
      org.opencontainers.image.description="Okta STIG scanner and event stream gateway" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HOST=0.0.0.0
EXPOSE 8787
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/scanstream.js"]
CMD ["--help"]

# syntax=docker/dockerfile:1
# The command line: `docker run … scan`, `docker run … serve`.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --ignore-scripts && npm rebuild esbuild
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir /app && cd /app && npm install --omit=dev --no-audit --no-fund --ignore-scripts /tmp/scanstream-*.tgz

FROM gcr.io/distroless/nodejs24-debian12:nonroot
WORKDIR /work
COPY --from=build --chown=nonroot:nonroot /app/node_modules /app/node_modules
ENV NODE_ENV=production HOST=0.0.0.0
EXPOSE 8787
ENTRYPOINT ["/nodejs/bin/node", "/app/node_modules/scanstream/dist/scanstream.js"]
CMD ["--help"]

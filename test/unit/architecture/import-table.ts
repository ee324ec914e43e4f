/**
 * Which room may import what: a whole room (`domain`) or one file of it (`services/tokens`). Everything else is refused,
 * for values, types and lazy imports alike. Files of one room may import each other, except in `separateFloors`.
 */
export const importTable: Record<string, readonly string[]> = {
  // Processes: each puts its doors or handlers onto one core.
  main: ['api', 'compose', 'process'],
  api: [
    'compose',
    'console',
    'domain/derived-key',
    'event-doors',
    'http',
    'installation',
    'mcp',
    'oauth',
    'operations',
    'ops',
    'platform',
    'realtime',
    'rest',
    'services/feed-origin',
    'services/oauth-storage',
    'services/receipts',
    'services/revocations',
    'services/signing-keys',
    'services/stream-tickets',
    'services/tokens',
    'ws',
  ],
  'event-doors': ['mcp', 'realtime', 'rest', 'ws'],
  workers: [
    'compose',
    'domain',
    'installation',
    'jobs',
    'ops',
    'platform',
    'presenters/events',
    'process',
    'realtime/receipts',
    'services',
    'unit-of-work',
  ],
  migrate: ['config', 'platform/migrations'],
  process: ['config', 'platform/lifecycle', 'platform/logger'],
  cli: [
    'bridge',
    'compose',
    'config',
    'domain',
    'installation',
    'jobs/define',
    'platform',
    'presenters',
    'process',
    'services',
  ],
  // A client of the service, for MCP clients without HTTP: it knows the service by its doors alone.
  bridge: [],
  embedded: ['config'],
  compose: [
    'announcer',
    'compose-files',
    'config',
    'domain',
    'jobs',
    'platform',
    'replica-reads',
    'repositories',
    'unit-of-work',
  ],
  'compose-files': ['config', 'domain', 'platform'],
  // Who else uses the same queues.
  installation: ['compose', 'platform/turns'],
  announcer: ['domain', 'jobs', 'notebook', 'platform'],
  // What operators look at, over one core; API and worker both have it.
  ops: ['compose', 'domain', 'http', 'platform'],

  // Faces: they never import each other.
  rest: [
    'domain',
    'http',
    'operations',
    'platform/blob-addresses-own',
    'platform/blobs',
    'realtime',
    'services/tokens',
  ],
  mcp: ['domain', 'http', 'operations', 'realtime', 'services/tokens'],
  ws: ['domain', 'http', 'operations', 'realtime', 'services/tokens'],
  oauth: ['domain', 'http', 'operations', 'realtime', 'services/tokens'],
  console: ['domain', 'http', 'operations', 'presenters', 'realtime', 'services', 'unit-of-work'],
  http: ['domain', 'platform/logger', 'services/tokens'],

  // Floors, from the top down.
  realtime: ['domain', 'platform/bus', 'presenters/events', 'unit-of-work'],
  operations: [
    'domain',
    'platform/blobs',
    'platform/file-bytes',
    'platform/limiter',
    'presenters',
    'services',
    'unit-of-work',
  ],
  services: [
    'domain',
    'policies',
    'unit-of-work',
    // Steps that several use cases share. A use case never imports another one.
    'services/access',
    'services/acting',
    'services/agent-by-handle',
    'services/agent-places',
    'services/attachments',
    'services/connections',
    'services/files-to-send',
    'services/map-in-turns',
    'services/open-account',
    'services/owners',
    'services/pages',
    'services/passwords',
    'services/retirement',
    'services/revocations',
    'services/settle-approval',
    'services/steps',
    'services/ties',
    'services/token-cache',
    'services/token-records',
    'services/tokens',
    'services/webhook-access',
    'services/webhook-secrets',
  ],
  'unit-of-work': ['domain', 'notebook', 'replica-reads', 'repositories'],
  // What a use case notes beside its rows, and what becomes of that when it commits.
  notebook: ['domain', 'repositories'],
  // Whether an agent's read may be done on a replica: compose makes it, the unit of work asks it.
  'replica-reads': ['domain', 'repositories'],
  repositories: ['domain'],
  policies: ['domain'],
  presenters: ['domain'],
  jobs: ['domain'],
  platform: ['jobs/define'],
  domain: [],
  config: ['platform/error-log', 'platform/redis-address'],
  migrations: [],

  // What runs beside the service. Nothing imports it.
  scripts: [
    'compose',
    'config',
    'domain',
    'embedded',
    'jobs',
    'platform',
    'repositories',
    'services',
    'unit-of-work',
  ],
};

/** Rooms whose files may not import each other unless the table names the file. */
export const separateFloors: ReadonlySet<string> = new Set(['services']);

/** Where a package may be used. Packages that are not listed here are at home everywhere. */
export const packageTable: Record<string, readonly string[]> = {
  koa: ['http', 'rest', 'mcp', 'oauth', 'ws', 'console', 'ops'],
  '@koa/router': ['rest', 'oauth', 'console'],
  'koa-body': ['http'],
  '@fastify/busboy': ['http'],
  '@aws-sdk/client-s3': ['platform'],
  '@aws-sdk/s3-request-presigner': ['platform'],
  'file-type': ['platform'],
  yauzl: ['platform'],
  yazl: ['platform'],
  preact: ['console'],
  'preact-render-to-string': ['console'],
  ws: ['ws', 'scripts'],
  '@modelcontextprotocol/sdk': ['mcp', 'bridge', 'scripts'],
  'oidc-provider': ['oauth'],
  'request-filtering-agent': ['platform'],
  pg: ['platform', 'scripts'],
  knex: ['platform', 'migrations'],
  bullmq: ['platform', 'scripts'],
  ioredis: ['platform', 'scripts'],
  pino: ['platform'],
  'prom-client': ['platform'],
  '@bull-board/api': ['ops'],
  '@bull-board/koa': ['ops'],
  'bullmq-otel': ['platform'],
  '@opentelemetry/api': ['platform'],
  '@opentelemetry/core': ['platform'],
  '@opentelemetry/sdk-trace-base': ['platform'],
  '@opentelemetry/context-async-hooks': ['platform'],
  '@opentelemetry/resources': ['platform'],
  '@opentelemetry/exporter-trace-otlp-http': ['platform'],
  'rate-limiter-flexible': ['platform'],
  commander: ['cli', 'scripts'],
  open: ['bridge'],
  'playwright-core': ['scripts'],
  'openid-client': ['platform'],
  standardwebhooks: ['services'],
  '@zxcvbn-ts/language-common': ['services'],
  '@node-rs/argon2': ['services'],
};

/** The only files that may import what is named when they run: they start a built entry, or load the migrations. */
export const importsByName: ReadonlySet<string> = new Set([
  'scripts/run.mjs',
  'scripts/test.mjs',
  'src/platform/migrations.ts',
]);

/** The only files named index: each holds a table of its own, and is no barrel. */
export const indexFiles: ReadonlySet<string> = new Set(['src/jobs/index.ts', 'src/repositories/index.ts']);

/**
 * The one place that may leave tests out: a suite without its Redis or its browser says so loudly, and stands in the report as
 * skipped.
 */
export const mayLeaveOut: ReadonlySet<string> = new Set(['test/support/leave-out.ts']);

import leven from 'leven';
import { z } from 'zod';
import type { Secrets } from './shared/encryption.ts';
import { version as VERSION } from './shared/version.ts';
import {
  flag,
  listenHost,
  hosts,
  issuer,
  mailSender,
  mediaTypeList,
  networks,
  oneOf,
  port,
  postgresUrl,
  postgresUrls,
  redisUrl,
  url,
  wholeNumber,
} from './setting-types.ts';

/** A setting is missing or wrong. The message is one line with the setting and its valid values. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** PUBLIC_URL is public and part of every token. */
function isBareUrl(value: string): boolean {
  const { username, password } = new URL(value);
  return username === '' && password === '' && !/[?#]/.test(value);
}

export const workerRoles = ['delivery', 'search-indexing', 'attachment-scanning', 'maintenance'] as const;
const workerRoleList = z
  .string()
  .transform((value) => value.split(',').map((role) => role.trim()))
  .pipe(z.array(oneOf(...workerRoles)).min(1, 'must name at least one role'));

/** Calls per period. `loop`: quick replies of two agents to each other; `unsent_uploads`: files that an agent uploaded but has not sent. */
const defaultLimits = {
  create_thread: { points: 30, seconds: 3_600 },
  a2a_task: { points: 60, seconds: 60 },
  send_message: { points: 60, seconds: 60 },
  message_search: { points: 30, seconds: 60 },
  contact_request: { points: 10, seconds: 3_600 },
  webhook_test: { points: 10, seconds: 60 },
  mcp_initialize: { points: 60, seconds: 60 },
  websocket: { points: 120, seconds: 60 },
  event_stream: { points: 120, seconds: 60 },
  default: { points: 300, seconds: 60 },
  public: { points: 300, seconds: 60 },
  sign_in: { points: 10, seconds: 600 },
  sign_in_account: { points: 50, seconds: 3_600 },
  sign_in_slow: { points: 1, seconds: 60 },
  sign_in_address: { points: 100, seconds: 600 },
  sign_up: { points: 10, seconds: 3_600 },
  add_member: { points: 60, seconds: 3_600 },
  notification_settings: { points: 30, seconds: 3_600 },
  notification_message: { points: 10, seconds: 3_600 },
  token: { points: 120, seconds: 60 },
  register: { points: 100, seconds: 3_600 },
  loop: { points: 240, seconds: 600 },
  unsent_uploads: { points: 200, seconds: 86_400 },
};
type RateLimits = Readonly<Record<keyof typeof defaultLimits, { points: number; seconds: number }>>;

const limitNames = Object.keys(defaultLimits).join(', ');
const rateLimits = z
  .string()
  .default('')
  .transform((value, context): RateLimits | 'off' => {
    if (value.trim() === 'off') return 'off';
    const limits: Record<string, { points: number; seconds: number }> = {};
    for (const item of value.split(',')) {
      const [, name = '', points, seconds] = /^\s*(\w+)=([1-9]\d{0,8})\/([1-9]\d{0,4})\s*$/.exec(item) ?? [];
      if (Object.hasOwn(defaultLimits, name) && !Object.hasOwn(limits, name)) {
        limits[name] = { points: Number(points), seconds: Number(seconds) };
      } else if (item.trim() !== '') {
        const message = `must be off, or name=calls/seconds separated by commas, each name once, such as default=1000/60; names: ${limitNames}`;
        context.issues.push({ code: 'custom', input: value, message });
      }
    }
    return { ...defaultLimits, ...limits };
  });

/** 32 random hexadecimal digits have fewer different ones in one of a million keys. */
const minKeyCharacters = 8;

const secretKey = z
  .string()
  .min(32, 'must be at least 32 characters; generate one with: openssl rand -base64 48')
  .refine(
    (value) => new Set(value).size >= minKeyCharacters,
    'must be random; generate one with: openssl rand -base64 48',
  );

const environment = z.object({
  HOST: listenHost.default('0.0.0.0'),
  PORT: port.default(3000),
  PUBLIC_URL: url('http:', 'https:')
    .refine(isBareUrl, 'must be an address without name, password, query and fragment')
    .transform((value) => `${new URL(value).origin}${new URL(value).pathname}`.replace(/\/+$/, ''))
    .optional(),
  DATA_DIR: z.string().regex(/\S/, 'must be the path of a folder').default('.data'),
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_SIZE: wholeNumber(2, 500).default(20),
  DATABASE_POOLER: oneOf('none', 'transaction').default('none'),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  DATABASE_STATEMENT_SECONDS: wholeNumber(1, 600).default(15),
  DATABASE_LOCK_SECONDS: wholeNumber(1, 600).default(10),
  DATABASE_REPLICA_URL: postgresUrls,
  DATABASE_REPLICA_LAG_SECONDS: wholeNumber(1, 3_600).default(10),
  REDIS_URL: redisUrl.optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w-]{1,40}$/, 'must be 1 to 40 letters, digits, - or _')
    .default('ams'),
  SECRET_KEY: secretKey,
  SECRET_KEY_FALLBACKS: z
    .string()
    .default('')
    .transform((value) => value.split(',').flatMap((key) => key.trim() || []))
    .pipe(z.array(secretKey)),
  ALLOWED_HOSTS: hosts,
  TRUST_PROXY: flag.default(false),
  DRAIN_SECONDS: wholeNumber(0, 300).default(5),
  REFRESH_GRACE_SECONDS: wholeNumber(0, 60).default(10),
  CLIENT_ID_METADATA_DOCUMENTS: flag.default(true),
  A2A: flag.default(true),
  A2A_WAIT_SECONDS: wholeNumber(0, 110).default(25),
  REMOTE_AGENTS: flag.default(true),
  REMOTE_NETWORKS: networks,
  REMOTE_CONFIRM: oneOf('person', 'none').default('person'),
  RATE_LIMITS: rateLimits,
  WEBHOOK_NETWORKS: networks,
  EVENTS_HOLD_SECONDS: wholeNumber(0, 300).default(90),
  SMTP_URL: url('smtp:', 'smtps:').optional(),
  SMTP_FROM: mailSender.optional(),
  SIGNUP: oneOf('open', 'invite', 'closed').default('open'),
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().max(40, 'must be at most 40 characters').optional(),
  FEED_RETENTION_DAYS: wholeNumber(1, 3_650).default(30),
  MESSAGE_RETENTION_DAYS: wholeNumber(2, 36_500).optional(),
  TASK_DAYS: wholeNumber(1, 365).default(30),
  AUDIT_RETENTION_DAYS: wholeNumber(1, 3_650).default(365),
  ECHO_AGENT: flag.default(true),
  AGENTS_PER_OWNER: wholeNumber(0, 1_000_000).default(1_000),
  EXPORT_RETENTION_DAYS: wholeNumber(1, 365).default(7),
  SEND_CONTEXT: oneOf('off', 'compare', 'on').default('on'),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  S3_ENDPOINT: url('https:', 'http:').optional(),
  S3_PUBLIC_ENDPOINT: url('https:', 'http:').optional(),
  S3_BUCKET: z.string().regex(/^\S+$/, 'must be the name of a bucket').optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_TIMEOUT_SECONDS: wholeNumber(1, 120).default(15),
  CLAMD_URL: url('tcp:', 'unix:')
    .refine((value) => !/^unix:\/\/(?!\/.)/.test(value), 'must be unix:///path or tcp://host:3310')
    .optional(),
  ATTACHMENT_TYPES: mediaTypeList.nullable().default(null),
  UPLOADS_PER_AGENT: wholeNumber(1, 1_000).default(5),
  UPLOADS_PER_PROCESS: wholeNumber(1, 10_000).default(100),
  UPLOAD_IDLE_SECONDS: wholeNumber(1, 120).default(30),
  OPS_HOST: listenHost.default('127.0.0.1'),
  OPS_PORT: port.optional(),
  OPERATOR_PASSWORD: z
    .string()
    .min(16, 'must be at least 16 characters; generate one with: openssl rand -hex 24')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http:', 'https:').optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  WORKER_ROLES: workerRoleList.default([...workerRoles]),
  WORKER_CONCURRENCY: wholeNumber(1, 1000).default(8),
});

/** As HOST, these listen on every address. */
const anyAddress = new Set(['0.0.0.0', '::']);

/** The first setting requires the second. */
const requiredTogether = [
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
  ['SMTP_URL', 'SMTP_FROM'],
  ['S3_ENDPOINT', 'S3_BUCKET'],
  ['S3_PUBLIC_ENDPOINT', 'S3_BUCKET'],
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID'],
] as const;

export type Config = Readonly<
  Omit<z.infer<typeof environment>, 'PUBLIC_URL' | 'DATABASE_DIRECT_URL'> & {
    PUBLIC_URL: string;
    SECRETS: Secrets;
    /** Bypasses a connection pooler, for listeners and session locks. */
    DATABASE_DIRECT_URL: string;
    /** The version in package.json. */
    VERSION: string;
  }
>;

/**
 * Parses the environment once, at the start of a process, into a frozen object.
 * @throws {ConfigError} for the first setting that is missing or wrong.
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0] ?? 'environment');
    const reason = present[name] === undefined ? 'is not set' : (issue?.message ?? 'is invalid');
    const misspelled = findMisspelledSettings(env).find(({ meant }) => meant === name);
    throw new ConfigError(`${name}: ${reason}${misspelled ? `, but ${misspelled.name} is` : ''}`);
  }
  for (const [name, needed] of requiredTogether) {
    if (parsed.data[name] !== undefined && parsed.data[needed] === undefined) {
      throw new ConfigError(`${needed}: is not set, but ${name} is`);
    }
  }
  const { DATABASE_URL, DATABASE_DIRECT_URL = DATABASE_URL, DATABASE_POOLER } = parsed.data;
  if (DATABASE_POOLER !== 'none' && parsed.data.DATABASE_DIRECT_URL === undefined) {
    throw new ConfigError(`DATABASE_DIRECT_URL: is not set, but DATABASE_POOLER is ${DATABASE_POOLER}`);
  }
  const { FEED_RETENTION_DAYS, MESSAGE_RETENTION_DAYS = Infinity } = parsed.data;
  if (MESSAGE_RETENTION_DAYS <= FEED_RETENTION_DAYS) {
    throw new ConfigError(
      'MESSAGE_RETENTION_DAYS: must be more than FEED_RETENTION_DAYS, because feeds refer to messages',
    );
  }
  const { HOST, PORT, OPS_HOST, OPS_PORT } = parsed.data;
  if (OPS_PORT === PORT && PORT !== 0 && (HOST === OPS_HOST || anyAddress.has(HOST))) {
    throw new ConfigError('OPS_PORT: must differ from PORT, which is for clients');
  }
  const PUBLIC_URL = parsed.data.PUBLIC_URL ?? `http://localhost:${parsed.data.PORT}`;
  const SECRETS: Secrets = [parsed.data.SECRET_KEY, ...parsed.data.SECRET_KEY_FALLBACKS];
  return Object.freeze({ ...parsed.data, DATABASE_DIRECT_URL, PUBLIC_URL, SECRETS, VERSION });
}

/** Returns the variables that are settings. */
export function pickSettings(env: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => Object.hasOwn(environment.shape, name)));
}

/** Returns the variables whose names are almost the name of a setting that is not set. They have no effect. */
export function findMisspelledSettings(env: Record<string, string | undefined>) {
  const settings = Object.keys(environment.shape);
  const unset = settings.filter((name) => name.includes('_') && !env[name]);
  return Object.keys(env).flatMap((name) => {
    const meant = settings.includes(name) ? undefined : unset.find((one) => leven(one, name) <= 2);
    return meant === undefined ? [] : [{ name, meant }];
  });
}

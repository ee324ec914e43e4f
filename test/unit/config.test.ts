import { describe, expect, test } from 'vitest';
import { ConfigError, findMisspelledSettings, loadConfig, workerRoles } from '../../src/config.ts';
import { budgets } from '../../packages/core/src/domain/limits.ts';
import { queueNames, queuesOfRole } from '../../src/jobs/define.ts';

const complete = { DATABASE_URL: 'postgres://user@localhost/ams', SECRET_KEY: '0123456789abcdef'.repeat(2) };

describe('settings', () => {
  test('have the documented defaults', () => {
    expect(loadConfig(complete)).toMatchObject({
      HOST: '0.0.0.0',
      PORT: 3000,
      PUBLIC_URL: 'http://localhost:3000',
      DATA_DIR: '.data',
      LOG_LEVEL: 'info',
      TRUST_PROXY: false,
      ALLOWED_HOSTS: [],
      SIGNUP: 'open',
      REFRESH_GRACE_SECONDS: 10,
      WORKER_ROLES: Object.keys(queuesOfRole),
      WEBHOOK_NETWORKS: [],
      REMOTE_AGENTS: true,
      REMOTE_NETWORKS: [],
      REMOTE_CONFIRM: 'person',
    });
    expect(loadConfig(complete).REDIS_URL).toBeUndefined();
  });

  test('limit calls as documented unless they are set', () => {
    const defaultLimits = {
      create_thread: { points: 30, seconds: 3600 },
      a2a_task: { points: 60, seconds: 60 },
      send_message: { points: 60, seconds: 60 },
      message_search: { points: 30, seconds: 60 },
      contact_request: { points: 10, seconds: 3600 },
      webhook_test: { points: 10, seconds: 60 },
      mcp_initialize: { points: 60, seconds: 60 },
      websocket: { points: 120, seconds: 60 },
      event_stream: { points: 120, seconds: 60 },
      default: { points: 300, seconds: 60 },
      public: { points: 300, seconds: 60 },
      sign_in: { points: 10, seconds: 600 },
      sign_in_account: { points: 50, seconds: 3600 },
      sign_in_slow: { points: 1, seconds: 60 },
      sign_in_address: { points: 100, seconds: 600 },
      sign_up: { points: 10, seconds: 3600 },
      add_member: { points: 60, seconds: 3600 },
      notification_settings: { points: 30, seconds: 3_600 },
      notification_message: { points: 10, seconds: 3_600 },
      token: { points: 120, seconds: 60 },
      register: { points: 100, seconds: 3600 },
      loop: { points: 240, seconds: 600 },
      unsent_uploads: { points: 200, seconds: 86_400 },
    };
    expect(loadConfig(complete).RATE_LIMITS).toEqual(defaultLimits);
    expect(Object.keys(defaultLimits)).toEqual([...budgets, 'loop', 'unsent_uploads']);
    expect(
      loadConfig({ ...complete, RATE_LIMITS: ' send_message=120/60 , default=1000/10,' }).RATE_LIMITS,
    ).toEqual({
      ...defaultLimits,
      send_message: { points: 120, seconds: 60 },
      default: { points: 1000, seconds: 10 },
    });
    expect(loadConfig({ ...complete, RATE_LIMITS: 'off' }).RATE_LIMITS).toBe('off');
  });

  test('have the roles of the queue table, which cover every queue once', () => {
    expect([...workerRoles]).toEqual(Object.keys(queuesOfRole));
    expect(Object.values(queuesOfRole).flat()).toEqual([...queueNames]);
  });

  test('accept address ranges as networks that webhooks may reach', () => {
    const networks = (value: string) => loadConfig({ ...complete, WEBHOOK_NETWORKS: value }).WEBHOOK_NETWORKS;
    expect(networks(' 10.1.0.0/16, fd00::/8,127.0.0.1 ,')).toEqual([
      { address: '10.1.0.0', prefix: 16 },
      { address: 'fd00::', prefix: 8 },
      { address: '127.0.0.1', prefix: 32 },
    ]);
    for (const wrong of ['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '10.0.0.0/-1'])
      expect(() => networks(wrong), wrong).toThrow('WEBHOOK_NETWORKS: must be address ranges');
  });

  test('are parsed into typed values', () => {
    const config = loadConfig({
      ...complete,
      PORT: '8080',
      TRUST_PROXY: 'yes',
      ALLOWED_HOSTS: 'a.example, b.example,',
      WORKER_ROLES: 'delivery, maintenance',
      PUBLIC_URL: 'https://ams.example/',
      REDIS_URL: 'rediss://r',
    });
    expect(config).toMatchObject({
      PORT: 8080,
      TRUST_PROXY: true,
      ALLOWED_HOSTS: ['a.example', 'b.example'],
      WORKER_ROLES: ['delivery', 'maintenance'],
      PUBLIC_URL: 'https://ams.example',
      REDIS_URL: 'rediss://r',
    });
  });

  test('accept one Redis server, a cluster, or sentinels', () => {
    for (const REDIS_URL of [
      'redis://r',
      'redis+cluster://:secret@one:7000,two:7001',
      'rediss+sentinel://one,two/main?sentinel_password=secret',
    ])
      expect(loadConfig({ ...complete, REDIS_URL })).toMatchObject({ REDIS_URL });
  });

  test('accept one or several database replicas', () => {
    expect(loadConfig(complete)).toMatchObject({
      DATABASE_REPLICA_URL: [],
      DATABASE_REPLICA_LAG_SECONDS: 10,
    });
    const DATABASE_REPLICA_URL = 'postgres://one/ams, postgres://two/ams,';
    expect(loadConfig({ ...complete, DATABASE_REPLICA_URL }).DATABASE_REPLICA_URL).toEqual([
      'postgres://one/ams',
      'postgres://two/ams',
    ]);
  });

  test('accept an external issuer over https, and over http on this machine', () => {
    for (const OIDC_ISSUER of [
      'https://id.example/realms/one',
      'http://localhost:8080',
      'http://127.0.0.1:1/',
    ]) {
      const settings = { OIDC_ISSUER, OIDC_CLIENT_ID: 'ams' };
      expect(loadConfig({ ...complete, ...settings })).toMatchObject(settings);
    }
  });

  test('derive the public address from the port when none is set', () => {
    expect(loadConfig({ ...complete, PORT: '4000' }).PUBLIC_URL).toBe('http://localhost:4000');
  });

  test('cannot be changed after parsing', () => {
    expect(Object.isFrozen(loadConfig(complete))).toBe(true);
  });

  test('count as unset when they are empty', () => {
    expect(loadConfig({ ...complete, REDIS_URL: '', PORT: '' })).toMatchObject({ PORT: 3000 });
    expect(() => loadConfig({ ...complete, DATABASE_URL: '' })).toThrow('DATABASE_URL: is not set');
  });
});

const wrong: [what: string, env: Record<string, string | undefined>, line: RegExp][] = [
  ['no database', { ...complete, DATABASE_URL: undefined }, /^DATABASE_URL: is not set$/],
  ['another database', { ...complete, DATABASE_URL: 'mysql://x' }, /^DATABASE_URL: .*postgres:\/\//],
  [
    'a replica of another kind',
    { ...complete, DATABASE_REPLICA_URL: 'postgres://one/ams,mysql://two' },
    /^DATABASE_REPLICA_URL: .*postgres:\/\//,
  ],
  [
    'a pooler and no way past it',
    { ...complete, DATABASE_POOLER: 'transaction' },
    /^DATABASE_DIRECT_URL: is not set, but DATABASE_POOLER is transaction$/,
  ],
  ['no address at all', { ...complete, DATABASE_URL: 'localhost' }, /^DATABASE_URL: must be an address/],
  [
    'S3 without a bucket',
    { ...complete, S3_ENDPOINT: 'http://localhost:9000' },
    /^S3_BUCKET: is not set, but S3_ENDPOINT is$/,
  ],
  [
    'half a key of S3',
    { ...complete, S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'x' },
    /^S3_SECRET_ACCESS_KEY: is not set/,
  ],
  ['a clamd that is none', { ...complete, CLAMD_URL: 'http://localhost' }, /^CLAMD_URL: .*tcp:\/\//],
  [
    'file types that are none',
    { ...complete, ATTACHMENT_TYPES: 'image/png,jpeg' },
    /^ATTACHMENT_TYPES: must be media types/,
  ],
  ['no secret', { ...complete, SECRET_KEY: undefined }, /^SECRET_KEY: is not set$/],
  ['a short secret', { ...complete, SECRET_KEY: 'k'.repeat(31) }, /^SECRET_KEY: .*32 characters/],
  ['a secret of one letter', { ...complete, SECRET_KEY: 'a'.repeat(32) }, /^SECRET_KEY: must be random; /],
  [
    'a misspelled secret',
    { ...complete, SECRET_KEY: undefined, SECERT_KEY: complete.SECRET_KEY },
    /^SECRET_KEY: is not set, but SECERT_KEY is$/,
  ],
  ...['*', 'http://x/', 'x/', 'a b', 'localhost:99999', '*.example.com', 'me@x'].map(
    (ALLOWED_HOSTS): (typeof wrong)[number] => [
      `the allowed host ${ALLOWED_HOSTS}`,
      { ...complete, ALLOWED_HOSTS },
      /^ALLOWED_HOSTS: must be host names /,
    ],
  ),
  [
    'one port for clients and operators',
    { ...complete, PORT: '3000', OPS_PORT: '3000' },
    /^OPS_PORT: must differ from PORT/,
  ],
  ['a port in words', { ...complete, PORT: 'http' }, /^PORT: /],
  ['a port that is too high', { ...complete, PORT: '65536' }, /^PORT: .*65535/],
  ['a port with a fraction', { ...complete, PORT: '3000.5' }, /^PORT: /],
  ['a public address without http', { ...complete, PUBLIC_URL: 'ams.example' }, /^PUBLIC_URL: .*https?:/],
  [
    'a public address with a password',
    { ...complete, PUBLIC_URL: 'http://u:p@one' },
    /^PUBLIC_URL: .*without/,
  ],
  ['a public address with a query', { ...complete, PUBLIC_URL: 'http://one/?a' }, /^PUBLIC_URL: .*without/],
  ['a Redis of another kind', { ...complete, REDIS_URL: 'http://r' }, /^REDIS_URL: .*redis:\/\//],
  [
    'a cluster without hosts',
    { ...complete, REDIS_URL: 'redis+cluster://' },
    /^REDIS_URL: must name its hosts/,
  ],
  ['sentinels of nothing', { ...complete, REDIS_URL: 'redis+sentinel://one' }, /^REDIS_URL: .*of the master/],
  ['a prefix with a colon', { ...complete, REDIS_PREFIX: 'a:b' }, /^REDIS_PREFIX: /],
  ['a log level of its own', { ...complete, LOG_LEVEL: 'loud' }, /^LOG_LEVEL: /],
  ['a flag that is neither', { ...complete, TRUST_PROXY: 'maybe' }, /^TRUST_PROXY: must be true or false$/],
  [
    'a role that does not exist',
    { ...complete, WORKER_ROLES: 'delivery,baking' },
    /^WORKER_ROLES: must be one of delivery, /,
  ],
  ['no role', { ...complete, WORKER_ROLES: ',' }, /^WORKER_ROLES: /],
  ['no job at a time', { ...complete, WORKER_CONCURRENCY: '0' }, /^WORKER_CONCURRENCY: /],
  ...['on', 'off,default=1/1', 'send=1/1', 'default=0/60', 'default=1/0', 'default=1', 'default=1/60s'].map(
    (RATE_LIMITS): (typeof wrong)[number] => [
      `limits like ${RATE_LIMITS}`,
      { ...complete, RATE_LIMITS },
      /^RATE_LIMITS: must be off, or .*default=1000\/60; names: create_thread, a2a_task, send_message, message_search, /,
    ],
  ),
  [
    'a limit twice',
    { ...complete, RATE_LIMITS: 'default=1/1,default=2/1' },
    /^RATE_LIMITS: .*each name once/,
  ],
  ['limits by no name of ours', { ...complete, RATE_LIMITS: 'constructor=1/1' }, /^RATE_LIMITS: /],
  ['another sign-up', { ...complete, SIGNUP: 'maybe' }, /^SIGNUP: must be one of open, invite, closed$/],
  ['an issuer over plain http', { ...complete, OIDC_ISSUER: 'http://id.example' }, /^OIDC_ISSUER: .*https/],
  ['an issuer that is none', { ...complete, OIDC_ISSUER: 'id.example' }, /^OIDC_ISSUER: must be an address/],
  [
    'an issuer with a query',
    { ...complete, OIDC_ISSUER: 'https://id.example/?a=1' },
    /^OIDC_ISSUER: .*query/,
  ],
  [
    'an issuer and no client there',
    { ...complete, OIDC_ISSUER: 'https://id.example' },
    /^OIDC_CLIENT_ID: is not set, but OIDC_ISSUER is$/,
  ],
  ['a long name', { ...complete, OIDC_NAME: 'x'.repeat(41) }, /^OIDC_NAME: must be at most 40 characters$/],
  ['a pool of one', { ...complete, DATABASE_POOL_SIZE: '1' }, /^DATABASE_POOL_SIZE: /],
];

test('a variable with almost the name of a setting is reported', () => {
  const env = { ...complete, SIGN_UP: 'closed', REFRESH_GRACE_SECOND: '5', WEBHOOK_NETWORKS: '', PORTS: '1' };
  expect(findMisspelledSettings(env)).toEqual([
    { name: 'REFRESH_GRACE_SECOND', meant: 'REFRESH_GRACE_SECONDS' },
  ]);
});

describe('a process that starts with', () => {
  test.each(wrong)('%s fails with one line that names the setting', (_what, env, line) => {
    let thrown: unknown;
    try {
      loadConfig(env);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    const { message } = thrown as ConfigError;
    expect(message).toMatch(line);
    expect(message).not.toContain('\n');
  });

  test('an invalid secret fails without showing it', () => {
    expect(() => loadConfig({ ...complete, SECRET_KEY: 'hunter2' })).toThrow(/^(?!.*hunter2)/s);
  });
});

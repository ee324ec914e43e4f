import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config.ts';
import { stopSeconds } from '../../support/stop-seconds.ts';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  profiles?: string[];
  stop_grace_period?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
}

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const text = read('docker-compose.yml');
const { services, volumes } = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};
const all = Object.entries(services);
/** As src/config.ts spells them. */
const settingNames = new Set(
  read('src/config.ts')
    .match(/^ {2}[A-Z][A-Z\d_]+(?=:)/gm)
    ?.map((name) => name.trim()),
);
const ours = ['api', 'api-2', 'worker', 'worker-2', 'worker-3', 'migrate'];

/** Settings that the compose file leaves as they are, with the reason. */
const omittedSettings: Record<string, string> = {
  HOST: 'the image listens everywhere; who may reach it is said by the ports',
  PORT: 'the image has one; PORT of .env is that of this machine',
  DATA_DIR: 'the image has one, where the volume is',
  DATABASE_POOL_SIZE: 'depends on max_connections, which is in the file too',
  DATABASE_POOLER: 'nothing stands before the PostgreSQL of the file',
  DATABASE_DIRECT_URL: 'goes with a pooler',
  REDIS_PREFIX: 'the Redis of the file belongs to this service alone',
};

/** What the images of others read. */
const imageSettings = new Set([
  'POSTGRES_USER',
  'POSTGRES_DB',
  'POSTGRES_PASSWORD',
  'REDISCLI_AUTH',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'S3_BUCKET',
  'GF_SECURITY_ADMIN_PASSWORD',
  'GF_ANALYTICS_REPORTING_ENABLED',
  'GF_ANALYTICS_CHECK_FOR_UPDATES',
]);
/** Part of an address, or read under another name; not a setting of the service. */
const partsOfAddresses = new Set(['REDIS_PASSWORD', 'GRAFANA_PASSWORD', 'GRAFANA_PORT', 'BALANCER_PORT']);
/** Empty where what they are for is not used. */
const optionalSecrets = new Set([
  'SECRET_KEY_FALLBACKS',
  'OIDC_CLIENT_SECRET',
  'OPERATOR_PASSWORD',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
]);
/** Compose would require these of every profile, so the container of the profile refuses to start without them. */
const profileSecrets: Record<string, string> = {
  AWS_ACCESS_KEY_ID: 'seaweedfs',
  AWS_SECRET_ACCESS_KEY: 'seaweedfs',
  GF_SECURITY_ADMIN_PASSWORD: 'grafana',
};
const isSecret = (name: string): boolean => /PASSWORD|SECRET|KEY|TOKEN|AUTH|ROOT_USER/.test(name);

describe('docker-compose.yml', () => {
  test('has every part of the service', () => {
    const names = [...ours, 'postgres', 'redis', 'seaweedfs', 'clamav', 'prometheus', 'grafana', 'balancer'];
    expect(Object.keys(services).toSorted()).toEqual(names.toSorted());
  });

  test('pins third-party images', () => {
    for (const [name, { image, build }] of all) {
      expect(Boolean(build), name).toBe(ours.includes(name));
      if (!build) expect(image, name).toMatch(/^[\w./-]+:(?!latest$)[\w.-]+$/);
    }
  });

  test('checks the health of every long-running service', () => {
    for (const [name, { healthcheck }] of all) {
      if (name === 'migrate') expect(healthcheck?.disable).toBe(true);
      else expect(healthcheck?.test?.length, name).toBeGreaterThan(1);
    }
  });

  test('starts API and worker after the migration, when the stores are healthy', () => {
    expect(services['migrate']?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    for (const name of ours.filter((other) => other !== 'migrate')) {
      expect(services[name]?.depends_on, name).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        postgres: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
      });
    }
  });

  test('waits for no service that a profile leaves out', () => {
    for (const [name, { depends_on }] of all.filter(([, { profiles }]) => !profiles)) {
      const awaited = Object.keys(depends_on ?? {}).flatMap((other) => services[other]?.profiles ?? []);
      expect(awaited, name).toEqual([]);
    }
  });

  test('has a profile with two APIs behind a balancer, and three workers', () => {
    const scaled = all.filter(([, { profiles }]) => !profiles || profiles.includes('scale'));
    const running = (entry: RegExp) =>
      scaled.filter(
        ([, { build, command = ['dist/src/main.js'] }]) => build && entry.test(command.join(' ')),
      );
    const apis = running(/dist\/src\/main\.js/).map(([name]) => name);
    const workers = running(/dist\/workers\/main\.js/).map(([name]) => name);
    expect([apis, workers]).toEqual([
      ['api', 'api-2'],
      ['worker', 'worker-2', 'worker-3'],
    ]);
    expect(Object.keys(services['balancer']?.depends_on ?? {})).toEqual(apis);
    const haproxy = read('deploy/haproxy/haproxy.cfg');
    const balanced = [...haproxy.matchAll(/presetenv BALANCER_API_\d (.+):3000$/gm)];
    expect(balanced.map(([, name]) => name)).toEqual(apis);
    // What the balancer says of itself is for its own container.
    const [, health = 'none'] = /presetenv BALANCER_HEALTH_BIND (127\.0\.0\.1:\d+)$/m.exec(haproxy) ?? [];
    expect(services['balancer']?.healthcheck?.test?.join(' ')).toContain(`http://${health}/healthz`);
    const scraped = [...read('deploy/prometheus/prometheus.yml').matchAll(/names: \[(.+)\]/g)];
    expect(scraped.map(([, names]) => names?.split(', '))).toEqual([apis, workers]);
  });

  test('allows a stop the time that its phases need', () => {
    expect(() => loadConfig({ ...required, DRAIN_SECONDS: '301' })).toThrow('DRAIN_SECONDS');
    const phases = Math.max(stopSeconds.api + 300, stopSeconds.worker);
    for (const name of ours) {
      expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10), name).toBeGreaterThan(phases);
    }
  });

  test('runs our processes without capabilities, on a read-only root file system', () => {
    for (const name of ours) {
      expect(services[name], name).toMatchObject({
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  test('runs a Redis that evicts nothing and persists its data', () => {
    const command = services['redis']?.command?.join(' ');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--requirepass');
  });

  test('keeps data in named volumes, and shows only API, balancer and Grafana, on this machine alone', () => {
    for (const [name, service] of all) {
      for (const volume of service.volumes ?? [])
        expect(volumes).toHaveProperty([volume.split(':')[0] ?? '']);
      for (const port of service.ports ?? []) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    }
    expect(all.filter(([, { ports }]) => ports?.length).map(([name]) => name)).toEqual([
      'api',
      'balancer',
      'grafana',
    ]);
    expect(services['postgres']?.volumes).toHaveLength(1);
    expect(services['redis']?.volumes).toHaveLength(1);
    const blobs = new Set(
      ['api', 'api-2', 'worker', 'worker-2', 'worker-3'].flatMap((name) => services[name]?.volumes),
    );
    expect([...blobs]).toEqual(['blobs:/data']);
  });

  test('holds no secret, and no default for one', () => {
    for (const [name, { environment = {} }] of all) {
      for (const [key, value] of Object.entries(environment)) {
        const taken =
          optionalSecrets.has(key) || profileSecrets[key] === name ? /^\$\{\w+:-\}$/ : /^\$\{\w+:\?[^}]+\}$/;
        if (isSecret(key)) expect(value, `${name} ${key}`).toMatch(taken);
        if (key.endsWith('_URL') && value.includes('@'))
          expect(value, `${name} ${key}`).toMatch(/:\$\{\w+:\?[^}]+\}@/);
      }
    }
    const lax = referencedIn(text).filter(({ name, kind }) => isSecret(name) && kind !== ':?');
    const ofProfiles = new Set(['GRAFANA_PASSWORD', ...Object.keys(profileSecrets)]);
    expect(lax.filter(({ name }) => !optionalSecrets.has(name) && !ofProfiles.has(name))).toEqual([]);
  });

  test('asks for the passwords of a profile only where it is used', () => {
    const demanded = new Set(
      referencedIn(text)
        .filter(({ kind }) => kind === ':?')
        .map(({ name }) => name),
    );
    expect([...demanded].toSorted()).toEqual(['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'SECRET_KEY']);
    for (const [key, name] of Object.entries(profileSecrets)) {
      const [shell, flag, script] = services[name]?.entrypoint ?? [];
      expect([shell, flag, services[name]?.profiles?.length], name).toEqual(['sh', '-c', 1]);
      const run = (value: string) =>
        spawnSync('sh', ['-c', (script ?? '').replaceAll('$$', '$').replace(/exec .*/, 'true')], {
          env: {
            AWS_ACCESS_KEY_ID: 'u',
            AWS_SECRET_ACCESS_KEY: 'p',
            S3_BUCKET: 'b',
            GF_SECURITY_ADMIN_PASSWORD: 'p',
            [key]: value,
          },
        }).status;
      expect([run('x'), run('') === 0], key).toEqual([0, false]);
    }
  });

  test('uses only settings that some program reads', () => {
    for (const [name, { environment = {} }] of all) {
      const known = ours.includes(name) ? settingNames : imageSettings;
      expect(
        Object.keys(environment).filter((key) => !known.has(key)),
        name,
      ).toEqual([]);
    }
    const somebody = new Set([...settingNames, ...imageSettings, ...partsOfAddresses]);
    expect(referencedIn(text).filter(({ name }) => !somebody.has(name))).toEqual([]);
  });

  test('passes every setting, or states why not', () => {
    const environment = new Set(ours.flatMap((name) => Object.keys(services[name]?.environment ?? {})));
    expect([...settingNames].filter((name) => !environment.has(name)).toSorted()).toEqual(
      Object.keys(omittedSettings).toSorted(),
    );
  });

  test('gives our processes valid settings', () => {
    const values: Record<string, string> = { ...example, SECRET_KEY: required.SECRET_KEY };
    for (const name of ours) {
      const environment = Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [
        key,
        value.replaceAll(reference, (_, wanted: string, kind: string, fallback: string) =>
          kind === ':-' ? values[wanted] || fallback : values[wanted] || 'x',
        ),
      ]);
      expect(() => loadConfig(Object.fromEntries(environment) as Record<string, string>), name).not.toThrow();
    }
  });
});

/** The settings without a default. */
const required = { DATABASE_URL: 'postgres://user@localhost/ams', SECRET_KEY: '0123456789abcdef'.repeat(2) };

const reference = /(?<!\$)\$\{(\w+)(?:(:[-?])([^}]*))?\}/g;

function referencedIn(yaml: string): { name: string; kind: string | undefined }[] {
  const code = yaml.replaceAll(/^\s*#.*$/gm, '');
  return [...code.matchAll(reference)].map(([, name = '', kind]) => ({ name, kind }));
}

const example = Object.fromEntries(
  [...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

describe('.env.example', () => {
  test('lists exactly the variables of the compose file', () => {
    const wanted = new Set(referencedIn(text).map(({ name }) => name));
    expect(new Set(Object.keys(example))).toEqual(wanted);
  });

  test('has the defaults of the settings that it sets', () => {
    const defaults = loadConfig(required);
    const set = Object.entries(example).filter(
      ([name, value]) => value !== '' && Object.hasOwn(defaults, name),
    );
    expect(set.length).toBeGreaterThan(10);
    expect(loadConfig({ ...required, ...Object.fromEntries(set) })).toEqual(defaults);
  });

  test('leaves every secret empty, after a comment with the command that creates one', () => {
    for (const [name, value] of Object.entries(example)) if (isSecret(name)) expect(value, name).toBe('');
    expect(read('.env.example')).toMatch(/openssl rand .*\n(#.*\n)?SECRET_KEY=\n/);
  });
});

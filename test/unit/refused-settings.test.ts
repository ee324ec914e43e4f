import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { listen } from '../../src/transports/http/server.ts';

const complete = { DATABASE_URL: 'postgres://user@localhost/ams', SECRET_KEY: '0123456789abcdef'.repeat(2) };

/** Values that look right, by what the message says. */
const refused: Record<string, { name: string; values: string[] }> = {
  'must be a whole number': {
    name: 'AGENTS_PER_OWNER',
    values: [' ', '\t', '0x50', '1e3', '5.0', '+5', '-1', '5s'],
  },
  'must be an address that starts with http:// or https:// and names a host': {
    name: 'PUBLIC_URL',
    values: ['http:one', 'https://', 'https://one:0'],
  },
  'must be an address that starts with postgres:// or postgresql://': {
    name: 'DATABASE_URL',
    values: ['postgres:', 'postgres:user@one/ams'],
  },
  'must be an address that starts with smtp:// or smtps://': {
    name: 'SMTP_URL',
    values: ['smtp:', 'smtp://', 'smtp:mail'],
  },
  'must be an address that starts with tcp:// or unix://': {
    name: 'CLAMD_URL',
    values: ['tcp:', 'tcp://', 'unix:'],
  },
  'must be unix:///path': { name: 'CLAMD_URL', values: ['unix://', 'unix:///', 'unix://clamd.sock'] },
  'must be address ranges': { name: 'REMOTE_NETWORKS', values: ['fe80::1%eth0'] },
  'must be an address or a host name': {
    name: 'HOST',
    values: [' ', '*', 'a b', 'http://one', 'localhost:3000', '[::1]'],
  },
  'must be the name of a bucket': { name: 'S3_BUCKET', values: [' ', 'a b'] },
  'must be the path of a folder': { name: 'DATA_DIR', values: [' '] },
  'must name a host, as in redis://': { name: 'REDIS_URL', values: ['redis:', 'redis:one', 'redis://'] },
  'must write a % in a name or password as %25': {
    name: 'REDIS_URL',
    values: ['redis://:10%@one', 'redis://10%@one', 'redis+cluster://:10%@one'],
  },
};

test.each(Object.entries(refused))('a setting %s', (reason, { name, values }) => {
  for (const value of values)
    expect(() => loadConfig({ ...complete, [name]: value }), JSON.stringify(value)).toThrow(
      `${name}: ${reason}`,
    );
});

test('a process that cannot listen names the settings', async () => {
  const [first, second] = [createServer(), createServer()];
  onTestFinished(() => void first.close());
  await listen(first, 0, '127.0.0.1', 'HOST, PORT');
  const { port } = first.address() as { port: number };
  await expect(listen(second, port, '127.0.0.1', 'OPS_HOST, OPS_PORT')).rejects.toThrow(
    /^OPS_HOST, OPS_PORT: .*EADDRINUSE.*; choose another address$/,
  );
});

test('settings keep what only looks odd', () => {
  const settings = {
    HOST: '::',
    OPS_HOST: 'ops.internal',
    DATABASE_URL: 'postgres:///ams?host=/var/run/postgresql\n',
    S3_BUCKET: 'arn:aws:s3:eu-west-1:123456789012:accesspoint/files',
    OIDC_NAME: 'Acme',
    CLAMD_URL: 'unix:///run/clamd.sock',
    REDIS_URL: 'redis://:10%25@one',
  };
  expect(loadConfig({ ...complete, ...settings, PORT: '3000\r' })).toMatchObject({ ...settings, PORT: 3000 });
});

test('PUBLIC_URL is written as clients write it', () => {
  const publicUrl = (PUBLIC_URL: string) => loadConfig({ ...complete, PUBLIC_URL }).PUBLIC_URL;
  expect(publicUrl('HTTPS://AMS.Example:443/')).toBe('https://ams.example');
  expect(publicUrl('https://one/agents/')).toBe('https://one/agents');
});

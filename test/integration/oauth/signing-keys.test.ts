import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { loadSigningKeys } from '../../../src/services/auth/signing-keys.ts';
import { secret, useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

test('processes that start at the same time share one key', async () => {
  await authority.sql('delete from signing_keys');
  const cores = [1, 2, 3, 4].map((number) => compose(loadConfig(authority.env), `api ${number}`));
  const keys = await Promise.all(cores.map(({ unitOfWork }) => loadSigningKeys(unitOfWork, [secret])));
  expect(new Set(keys.map((set) => JSON.stringify(set))).size).toBe(1);
  expect(keys[0]).toHaveLength(1);
  expect(await authority.sql('select id from signing_keys')).toEqual([{ id: keys[0]?.[0]?.kid }]);
  await Promise.all(cores.map((core) => core.close()));
});

test('the stored key is encrypted, and a process with another SECRET_KEY reports it', async () => {
  const [key] = await loadSigningKeys(authority.core.unitOfWork, [secret]);
  const [row] = await authority.sql<{ encrypted_key: Buffer }>('select encrypted_key from signing_keys');
  expect(row?.encrypted_key.toString('latin1')).not.toContain(key?.d);
  expect(row?.encrypted_key.toString('latin1')).not.toContain('P-256');
  await expect(loadSigningKeys(authority.core.unitOfWork, [`${secret}!`])).rejects.toThrow(/^SECRET_KEY: /);
});

test('starting the authorization server prints nothing', async () => {
  const start = `
    const { createOAuthTransport } = await import('./src/transports/oauth/transport.ts');
    const resources = { api: 'http://localhost/v1', mcp: 'http://localhost/mcp', ws: 'ws://localhost/ws' };
    const signing_keys = ${JSON.stringify(await loadSigningKeys(authority.core.unitOfWork, [secret]))};
    const parts = { issuer: 'http://localhost', resources, signing_keys, cookie_keys: ['x'], trust_proxy: false };
    createOAuthTransport({ ...parts, storage: {}, limits: {}, readDocument() {}, errorPage() {}, report() {} });`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', start];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stdout + stderr).toBe('');
});

import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseAccounts, sharedHome } from '../../src/embedded/postgres/account.ts';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { findReason } from '../../src/embedded/postgres/data-folder.ts';
import { loadSecrets } from '../../src/embedded/secrets.ts';
import { removeServiceEnv, writeServiceEnv } from '../../src/embedded/service-env.ts';

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ams-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('secrets are created once, differ, and are readable only by their owner', () => {
  const folder = ownFolder();
  const secrets = loadSecrets(folder);
  expect(new Set(Object.values(secrets)).size).toBe(3);
  expect(secrets.secret_key.length).toBeGreaterThanOrEqual(32);
  const file = join(folder, 'secrets.json');
  chmodSync(file, 0o644);
  expect(loadSecrets(folder)).toEqual(secrets);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, '{"secret_key": 1}');
  expect(() => loadSecrets(folder)).toThrow(/is damaged/);
});

test('the settings of the running service are read as they were written', () => {
  const folder = ownFolder();
  const values = {
    URL: 'postgres://a:b@127.0.0.1/x#1',
    DIR: "/it's here",
    QUOTED: 'a "b" \\n $c',
    LIST: "'a'\n`b`",
  };
  writeServiceEnv(folder, values);
  expect(parseEnv(readFileSync(join(folder, 'service.env'), 'utf8'))).toEqual(values);
  removeServiceEnv(folder);
  expect(() => writeServiceEnv(folder, { ALL: `'\`"` })).toThrow(/^ALL: /);
});

test('accounts are read from passwd, with negative ids as unsigned numbers', () => {
  const passwd = '# a comment\nnobody:*:-2:-2:nobody:/:/bin/false\npostgres:x:101:104::/:/bin/sh\nbroken\n';
  expect(parseAccounts(passwd)).toEqual([
    { name: 'nobody', uid: 4_294_967_294, gid: 4_294_967_294 },
    { name: 'postgres', uid: 101, gid: 104 },
  ]);
});

test('a shared folder in which others may write is not trusted', () => {
  const base = ownFolder();
  const home = sharedHome([base]);
  expect(statSync(home).mode & 0o022).toBe(0);
  chmodSync(home, 0o777);
  expect(() => sharedHome([base])).toThrow(/can write to it/);
});

test('a failure is reported in one line that says what to do', async () => {
  const refused = Object.assign(new Error('EACCES: permission denied, open'), {
    code: 'EACCES',
    path: '/x/lock',
  });
  expect(toOneLine(refused)).toMatch(/^\/x\/lock: no permission .* DATA_DIR$/);
  expect(toOneLine(new Error('first\nsecond'))).toBe('first');
  const file = join(ownFolder(), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')]) {
    const made = mkdir(path, { recursive: true }).catch(toOneLine);
    expect(await made).toBe(`${path}: a part of this path is a file; choose another folder with DATA_DIR`);
  }
  expect(findReason('LOG:  x\n2026 UTC [1] FATAL:  could not y\nLOG:  z\n')).toBe('could not y');
  expect(findReason('initdb: error: no z\n')).toBe('no z');
  expect(findReason('LOG:  fine\n')).toBeNull();
});

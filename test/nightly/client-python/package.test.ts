import { execFile } from 'node:child_process';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { missingPythonReason, pythonPackage, startPython } from '../../support/python.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { page, refuse, startStubService } from './stub-service.ts';
import { createFolder } from '../../support/use.ts';

const run = promisify(execFile);
const missingBuildReason =
  missingPythonReason ??
  // Debian's setuptools refuses to load after pip.
  (await run('python3', ['-c', 'import setuptools, pip, wheel']).then(
    () => undefined,
    () =>
      'no pip, setuptools or wheel: on Debian, apt-get install python3-pip python3-setuptools python3-wheel',
  ));

describeUnless(missingBuildReason, 'the package for Python', () => {
  test('builds without a network and installs with its type hints', async () => {
    const folder = await createFolder();
    await cp(pythonPackage, join(folder, 'source'), { recursive: true }); // the build writes into it
    const offline = ['--no-index', '--no-deps', '--no-build-isolation', '--disable-pip-version-check'];
    const target = join(folder, 'installed');
    await run('python3', ['-m', 'pip', 'install', ...offline, '--target', target, join(folder, 'source')]);
    expect(await readdir(join(target, 'agent_messaging'))).toContain('py.typed');
    const { stdout } = await run('python3', ['-c', 'import agent_messaging as am; print(am.__file__)'], {
      env: { PATH: process.env['PATH'], PYTHONPATH: target },
    });
    expect(stdout).toContain(target);
  });
});

describeUnless(missingPythonReason, 'the README of the Python client', () => {
  test('handles the first event in at most ten lines', async () => {
    const text = await readFile(join(pythonPackage, 'README.md'), 'utf8');
    const [, source = ''] = /```python\n([^]*?)```/.exec(text) ?? [];
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    const message = { sender: { canonical_handle: 'ada.writer' }, content: 'Hello' };
    const stub = await startStubService(
      page(['message.created'], {}, message),
      refuse(401, 'UNAUTHORIZED'), // ends the program
    );
    const env = { AMS_URL: stub.url, AMS_TOKEN: 'token' };
    const program = startPython(source, env, { folder: await createFolder() });
    expect(await program.closed).toBe(1);
    expect(program.lines()).toEqual(['ada.writer: Hello']);
    expect(program.errors()).toContain('AuthenticationError');
  });
});

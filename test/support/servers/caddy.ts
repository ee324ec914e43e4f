import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findProgram } from '../../../src/embedded/find-program.ts';
import { testCertificate } from './tls-certificate.ts';

const program = findProgram(['caddy']);

/** Why tests with Caddy cannot run; undefined when they can. */
export const missingCaddyReason = program === null ? 'no caddy: on Debian, apt-get install caddy' : undefined;

/**
 * Runs Caddy until the test is finished, with a site of a page of the documentation. Its certificate is that of the tests.
 * @param replaced texts of the page, such as its address, each with its replacement. Each must be there.
 */
export async function startCaddy(
  shown: string,
  replaced: readonly (readonly [string, string])[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-caddy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(cert, testCertificate.cert), writeFile(key, testCertificate.key)]);
  // Global options are a block without a name before the sites.
  const options = /^\{\n([^]*?)^\}\n/m.exec(shown);
  const global = `{\n  admin off\n  auto_https disable_redirects\n${options?.[1] ?? '  log {\n  }\n'}}\n`;
  const named = shown.slice(options?.[0].length ?? 0).replace('{', `{\n  tls ${cert} ${key}`);
  let site = global.replace('log {', 'log {\n    level ERROR') + named;
  for (const [from, to] of replaced) {
    if (!site.includes(from)) throw new Error(`the configuration has no ${from}`);
    site = site.replaceAll(from, to);
  }
  const file = join(folder, 'Caddyfile');
  await writeFile(file, site);
  const caddy = spawn(program ?? 'caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(caddy, 'spawn');
  const ended = once(caddy, 'exit');
  onTestFinished(async () => {
    caddy.kill('SIGTERM');
    await ended;
  });
}

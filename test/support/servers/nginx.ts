import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { testCertificate } from './tls-certificate.ts';

const program = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path));

/** Why tests with nginx cannot run; undefined when they can. */
export const missingNginxReason =
  program === undefined ? 'no nginx: on Debian, apt-get install nginx-light' : undefined;

/**
 * Runs nginx until the test is finished, with a configuration of a page of the documentation: the content of its block `http`. Its certificate
 * is that of the tests, and the pid, logs and temporary files are in a folder of its own.
 * @param replaced texts of the page, such as ports, each with its replacement. Each must be there.
 */
export async function startNginx(
  shown: string,
  replaced: readonly (readonly [string, string])[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-nginx-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(cert, testCertificate.cert), writeFile(key, testCertificate.key)]);
  let server = shown
    .replaceAll(/(ssl_certificate) .*;/g, `$1 ${cert};`)
    .replaceAll(/(ssl_certificate_key) .*;/g, `$1 ${key};`);
  for (const [from, to] of replaced) {
    if (!server.includes(from)) throw new Error(`the configuration has no ${from}`);
    server = server.replaceAll(from, to);
  }
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  // Its workers must write into the folder.
  const user = process.getuid?.() === 0 ? ['user root;'] : [];
  const lines = [...user, 'daemon off;', `pid ${join(folder, 'pid')};`, 'error_log stderr;', 'events {}'];
  const file = join(folder, 'nginx.conf');
  await writeFile(file, [...lines, 'http {', 'access_log off;', ...paths, server, '}'].join('\n'));
  const nginx = spawn(program ?? 'nginx', ['-c', file, '-p', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(nginx, 'spawn');
  const ended = once(nginx, 'exit');
  onTestFinished(async () => {
    nginx.kill('SIGTERM');
    await ended;
  });
}

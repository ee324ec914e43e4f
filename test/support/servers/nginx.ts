import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Replacements, startProxy } from './proxy.ts';

const program = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path));

/** Why tests with nginx cannot run; undefined when they can. */
export const missingNginxReason =
  program === undefined ? 'no nginx: on Debian, apt-get install nginx-light' : undefined;

/**
 * Runs nginx until the test is finished, with a configuration of a page of the documentation: the content of its block `http`. Its certificate
 * is that of the tests, and the pid, logs and temporary files are in a folder of its own.
 */
export function startNginx(shown: string, replaced: Replacements): Promise<void> {
  return startProxy(program ?? 'nginx', replaced, {
    configure({ folder, cert, key }) {
      const server = shown
        .replaceAll(/(ssl_certificate) .*;/g, `$1 ${cert};`)
        .replaceAll(/(ssl_certificate_key) .*;/g, `$1 ${key};`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      // Its workers must write into the folder.
      const user = process.getuid?.() === 0 ? ['user root;'] : [];
      const lines = [...user, 'daemon off;', `pid ${join(folder, 'pid')};`, 'error_log stderr;', 'events {}'];
      return [...lines, 'http {', 'access_log off;', ...paths, server, '}'].join('\n');
    },
    argumentsFor: (file) => ['-c', file],
  });
}

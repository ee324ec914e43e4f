import { findProgram } from '../../../src/embedded/find-program.ts';
import { type Replacements, startProxy } from './proxy.ts';

const program = findProgram(['caddy']);

/** Why tests with Caddy cannot run; undefined when they can. */
export const missingCaddyReason = program === null ? 'no caddy: on Debian, apt-get install caddy' : undefined;

/** Runs Caddy until the test is finished, with a site of a page of the documentation. Its certificate is that of the tests. */
export function startCaddy(shown: string, replaced: Replacements): Promise<void> {
  return startProxy(program ?? 'caddy', replaced, {
    configure({ cert, key }) {
      // Global options are a block without a name before the sites.
      const options = /^\{\n([^]*?)^\}\n/m.exec(shown);
      const global = `{\n  admin off\n  auto_https disable_redirects\n${options?.[1] ?? '  log {\n  }\n'}}\n`;
      const named = shown.slice(options?.[0].length ?? 0).replace('{', `{\n  tls ${cert} ${key}`);
      return global.replace('log {', 'log {\n    level ERROR') + named;
    },
    argumentsFor: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  });
}

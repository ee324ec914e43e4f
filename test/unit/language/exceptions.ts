import type { Exception } from './rules.ts';

/** Findings that are right as they are. */
export const exceptions: readonly Exception[] = [
  {
    word: 'door',
    place: /audit/,
    line: /door['"]?\??[:;,\])}]|\bdoor\b.*\bclient_id\b|\.door\b/,
    reason: 'The column of the audit log and the JSON field of `ams audit --json` have this name.',
  },
  {
    word: 'rings',
    place: /^(?:src|test)\//,
    line: /['`]rings['`]/,
    reason: 'The bus topic has this name in the release before; two releases share a bus during an upgrade.',
  },
  {
    word: 'courier',
    place: /^(?:openapi|asyncapi)\.json#|^src\/operations\//,
    reason: 'The name of an agent in the examples of the published documents.',
  },
  {
    word: 'nobody',
    place: /^test\/unit\/embedded-files\.test\.ts/,
    reason: 'The name of an account in a passwd file.',
  },
];

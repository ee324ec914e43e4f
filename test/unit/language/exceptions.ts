import type { Exception } from './rules.ts';

/** Findings that are right as they are. */
export const exceptions: readonly Exception[] = [
  {
    word: 'door',
    place: /audit|db\/schema/,
    line: /\bdoor\b.*\bclient_id\b|\bdoor, at\b|w\.door as transport|`door`/,
    reason: 'The column of the audit log has this name.',
  },
  {
    word: 'nobody',
    place: /^src\/domain\/agents\/reserved-names\.ts|^src\/embedded\/postgres\/account\.ts/,
    line: /['`]nobody['`]|macOS writes nobody/,
    reason: 'A reserved name, and a user of the operating system.',
  },
  {
    word: "'Who can see it',",
    place: /^src\/transports\/console\//,
    line: /^visibility:/,
    reason: 'The question of a group of choices in a form.',
  },
  {
    word: "'Who can start threads with it',",
    place: /^src\/transports\/console\//,
    line: /^inbound_policy:/,
    reason: 'The question of a group of choices in a form.',
  },
  {
    word: 'courier',
    place: /^(?:openapi(?:-long-paths)?|asyncapi)\.json#|^src\/operations\//,
    reason: 'The name of an agent in the examples of the published documents.',
  },
  {
    word: 'nobody',
    place: /^test\/unit\/embedded-files\.test\.ts/,
    reason: 'The name of an account in a passwd file.',
  },
  {
    word: 'egress',
    place: /^deploy\/chart\/|^test\/nightly\/chart\/|^docs\/deployment\.md/,
    reason: 'The field of a NetworkPolicy of Kubernetes.',
  },
];

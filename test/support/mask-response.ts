import type { RestResponse } from '../clients/rest.ts';
import type { TestAgent } from './service.ts';

/** Headers that differ from one answer to the next whatever was asked, or with the body, names and all. */
const volatileHeaders = new Set([
  'x-request-id',
  'date',
  'content-length',
  'etag',
  'connection',
  'keep-alive',
  'ratelimit',
]);

/** What agents are called, by the roles that they play. */
export function mapNamesToRoles(
  agents: Record<string, Pick<TestAgent, 'id' | 'handle'>>,
): Record<string, string> {
  const names = Object.entries(agents).flatMap(([role, { id, handle }]) => [
    [`${role} id`, id],
    [role, handle],
  ]);
  return Object.fromEntries(names) as Record<string, string>;
}

/**
 * An answer as one text, byte for byte, but for what differs between any two calls: identifiers of the answer itself, times, and
 * the names of what the calls were about, each replaced by the role it played.
 */
export function maskResponse(
  { status, headers, text }: RestResponse,
  names: Record<string, string | readonly string[]> = {},
): string {
  const shown = [...headers]
    .filter(([name]) => !volatileHeaders.has(name))
    .map(([name, value]) => `${name}: ${value}`);
  let whole = [String(status), ...shown.toSorted(), '', text].join('\n');
  for (const [role, given] of Object.entries(names)) {
    for (const name of [given].flat()) whole = whole.replaceAll(name, `<${role}>`);
  }
  return whole
    .replaceAll(/"request_id":"[0-9a-f-]{36}"/g, '"request_id":"<id>"')
    .replaceAll(/\b([a-z]{3,4})_[0-9A-HJKMNP-TV-Z]{26}\b/g, '<$1>')
    .replaceAll(/\b1[0-9]{12}\b/g, '<time>');
}

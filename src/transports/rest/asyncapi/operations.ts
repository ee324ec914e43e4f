import { eventScopes, eventTypes } from '../../../domain/feed/events.ts';
import type { TransportDescription } from '../../../realtime/transport-description.ts';
import { feedScopes } from '../../../realtime/feed-scopes.ts';
import type { Json, Schemas } from '../openapi/schemas.ts';
import { anyOf, scopesThatShow } from './security.ts';

/**
 * The Operation Objects (AsyncAPI 3.0) of a door, by name. Events that the same scopes show are one operation, since that is what
 * can carry security.
 */
export function describeOperations(door: TransportDescription, schemas: Schemas): [string, Json][] {
  const channel = { $ref: `#/channels/${door.name}` };
  const messages = (names: readonly string[]) =>
    names.map((name) => ({ $ref: `${channel.$ref}/messages/${name}` }));
  const sent = door.event ? [...new Set(eventTypes.map((type) => eventScopes[type]))] : [];
  const events = sent.map((scope): [string, Json] => {
    const types = eventTypes.filter((type) => eventScopes[type] === scope);
    const security = anyOf(types.slice(0, 1).flatMap(scopesThatShow));
    const summary = `Events that ${scope} shows.`;
    return [
      `${door.name}_${scope.split(':')[0]}`,
      { action: 'send', channel, summary, security, messages: messages(types) },
    ];
  });
  const others = door.sends.map(({ name, summary }): [string, Json] => [
    `${door.name}_${name}`,
    { action: 'send', channel, summary, security: anyOf(feedScopes), messages: messages([name]) },
  ]);
  const taken = door.receives.map(({ name, summary, replies }): [string, Json] => [
    `${door.name}_${name}`,
    {
      action: 'receive',
      channel,
      summary,
      security: anyOf(feedScopes),
      messages: messages([name]),
      reply: { channel, messages: messages(replies) },
    },
  ]);
  const bindings = door.protocol === 'http' && { bindings: { http: requestOf(door, schemas) } };
  return [...others, ...events, ...taken].map(([name, operation]) => [name, { ...operation, ...bindings }]);
}

function requestOf({ method, query }: TransportDescription, schemas: Schemas): Json {
  return { method, ...(query && { query: schemas.of(query, 'input') }), bindingVersion: '0.3.0' };
}

import { eventOf, eventTypes } from '../../../../packages/core/src/events/list.ts';
import type { TransportDescription } from '../../../realtime/transport-description.ts';
import { feedScopes } from '../../../../packages/core/src/events/feed-scopes.ts';
import type { Json, Schemas } from '../openapi/schemas.ts';
import { anyOf, scopesFor } from './security.ts';

/** The Operation Objects (AsyncAPI 3.0) of a transport, by name. One for the events of each scope, since security is per operation. */
export function describeOperations(transport: TransportDescription, schemas: Schemas): [string, Json][] {
  const channel = { $ref: `#/channels/${transport.name}` };
  const messages = (names: readonly string[]) =>
    names.map((name) => ({ $ref: `${channel.$ref}/messages/${name}` }));
  const scopes = transport.event ? [...new Set(eventTypes.map((type) => eventOf(type).scope))] : [];
  const events = scopes.map((scope): [string, Json] => {
    const types = eventTypes.filter((type) => eventOf(type).scope === scope);
    const security = anyOf(types.slice(0, 1).flatMap(scopesFor));
    const summary = `Events that require ${scope}.`;
    return [
      `${transport.name}_${scope.split(':')[0]}`,
      { action: 'send', channel, summary, security, messages: messages(types) },
    ];
  });
  const others = transport.sends.map(({ name, summary }): [string, Json] => [
    `${transport.name}_${name}`,
    { action: 'send', channel, summary, security: anyOf(feedScopes), messages: messages([name]) },
  ]);
  const received = transport.receives.map(({ name, summary, replies }): [string, Json] => [
    `${transport.name}_${name}`,
    {
      action: 'receive',
      channel,
      summary,
      security: anyOf(feedScopes),
      messages: messages([name]),
      reply: { channel, messages: messages(replies) },
    },
  ]);
  const bindings = transport.protocol === 'http' && {
    bindings: { http: describeRequest(transport, schemas) },
  };
  return [...others, ...events, ...received].map(([name, operation]) => [
    name,
    { ...operation, ...bindings },
  ]);
}

function describeRequest({ method, query }: TransportDescription, schemas: Schemas): Json {
  return { method, ...(query && { query: schemas.of(query, 'input') }), bindingVersion: '0.3.0' };
}

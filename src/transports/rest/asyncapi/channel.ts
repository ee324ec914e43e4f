import { type EventType, eventTypes } from '../../../../packages/core/src/events/list.ts';
import { exampleEvents } from '../../../operations/examples/events.ts';
import type { TransportDescription, MessageDescription } from '../../../realtime/transport-description.ts';
import type { Json, Schemas } from '../openapi/schemas.ts';
import { scopesFor } from './security.ts';

/** The Channel Object (AsyncAPI 3.0) of a transport, with all its messages. */
export function describeChannel(transport: TransportDescription, schemas: Schemas): Json {
  const events = transport.event
    ? eventTypes.map((type) => describeEvent(transport, transport.event, type, schemas))
    : [];
  const others = [
    ...transport.sends.map((message) => describeMessage(transport, message, 'output', schemas)),
    ...transport.receives.map((message) => describeMessage(transport, message, 'input', schemas)),
  ];
  const { query, method } = transport;
  const request = { method, ...(query && { query: schemas.of(query, 'input') }) };
  return {
    address: transport.address,
    title: transport.title,
    description: transport.description,
    servers: [{ $ref: `#/servers/${transport.address === null ? 'receiver' : transport.protocol}` }],
    messages: Object.fromEntries([...others, ...events]) as Json,
    ...(transport.protocol === 'ws' && { bindings: { ws: { ...request, bindingVersion: '0.1.0' } } }),
  };
}

function describeEvent(
  { headers }: TransportDescription,
  event: TransportDescription['event'],
  type: EventType,
  schemas: Schemas,
): [string, Json] {
  const example = exampleEvents.find((one) => one.type === type);
  if (!event || !example) throw new Error(`no example of ${type} is defined`);
  const schema = event.schema(type);
  const text = event.text({ ...example, data_json: JSON.stringify(example.data) });
  const scopes = scopesFor(type).map((scope) => `\`${scope}\``);
  return [
    type,
    {
      name: type,
      title: type,
      summary: schema.description,
      description: `Requires one of these scopes: ${scopes.join(', ')}.`,
      tags: [{ name: type.split('.')[0] }],
      ...(headers && { headers: schemas.of(headers.schema, 'output') }),
      payload: schemas.of(schema, 'output'),
      examples: [{ ...(headers && { headers: headers.example }), payload: JSON.parse(text) as Json }],
    },
  ];
}

function describeMessage(
  { headers }: TransportDescription,
  { name, summary, schema, example }: MessageDescription,
  io: 'input' | 'output',
  schemas: Schemas,
): [string, Json] {
  const sentHeaders = io === 'output' ? headers : undefined;
  return [
    name,
    {
      name,
      title: name,
      summary,
      ...(sentHeaders && { headers: schemas.of(sentHeaders.schema, 'output') }),
      payload: schemas.of(schema, io),
      examples: [{ ...(sentHeaders && { headers: sentHeaders.example }), payload: example }],
    },
  ];
}

import { type EventType, eventTypes } from '../../../domain/feed/events.ts';
import { exampleEvents } from '../../../operations/examples/events.ts';
import type { TransportDescription, MessageDescription } from '../../../realtime/transport-description.ts';
import type { Json, Schemas } from '../openapi/schemas.ts';
import { scopesThatShow } from './security.ts';

/** The Channel Object (AsyncAPI 3.0) of a door: everything that goes over it. */
export function describeChannel(door: TransportDescription, schemas: Schemas): Json {
  const events = door.event ? eventTypes.map((type) => describeEvent(door, door.event, type, schemas)) : [];
  const others = [
    ...door.sends.map((message) => describeMessage(door, message, 'output', schemas)),
    ...door.receives.map((message) => describeMessage(door, message, 'input', schemas)),
  ];
  const { query, method } = door;
  const opening = { method, ...(query && { query: schemas.of(query, 'input') }) };
  return {
    address: door.address,
    title: door.title,
    description: door.description,
    servers: [{ $ref: `#/servers/${door.address === null ? 'receiver' : door.protocol}` }],
    messages: Object.fromEntries([...others, ...events]) as Json,
    ...(door.protocol === 'ws' && { bindings: { ws: { ...opening, bindingVersion: '0.1.0' } } }),
  };
}

function describeEvent(
  { headers }: TransportDescription,
  event: TransportDescription['event'],
  type: EventType,
  schemas: Schemas,
): [string, Json] {
  const example = exampleEvents.find((one) => one.type === type);
  if (!event || !example) throw new Error(`there is no example of ${type}`);
  const schema = event.schema(type);
  const text = event.text({ ...example, data_json: JSON.stringify(example.data) });
  const scopes = scopesThatShow(type).map((scope) => `\`${scope}\``);
  return [
    type,
    {
      name: type,
      title: type,
      summary: schema.description,
      description: `Any one of these scopes shows it: ${scopes.join(', ')}.`,
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
  const head = io === 'output' ? headers : undefined;
  return [
    name,
    {
      name,
      title: name,
      summary,
      ...(head && { headers: schemas.of(head.schema, 'output') }),
      payload: schemas.of(schema, io),
      examples: [{ ...(head && { headers: head.example }), payload: example }],
    },
  ];
}

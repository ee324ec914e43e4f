import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from '../../../support/openapi/document.ts';
import { hostileJson, hostileNames } from './hostile-values.ts';

/** A value as JSON text, which can express -0, duplicate keys and half a surrogate pair. */
export type JsonText = string;

const text = (options: { minLength?: number; maxLength?: number }): Arbitrary<string> =>
  fc.oneof(
    fc.string({ ...options, unit: 'grapheme' }),
    fc.string({ ...options, unit: 'grapheme-ascii' }),
    fc.string({ ...options, unit: fc.constantFrom('é', '💬', '漢', 'ß', '\u202e', 'a', ' ', '\n') }),
  );

const json = (value: unknown): JsonText => JSON.stringify(value);

const placeholder = (...kinds: string[]): Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...kinds), fc.nat(999)).map(([kind, number]) => `{{${kind}:${number}}}`);

const agentLike = fc.oneof(
  { weight: 6, arbitrary: placeholder('handle', 'agent') },
  { weight: 1, arbitrary: placeholder('handle').map((handle) => `@${handle}`) },
  { weight: 1, arbitrary: placeholder('registered') },
);

const contactLike = fc.oneof(
  { weight: 4, arbitrary: placeholder('contact') },
  { weight: 1, arbitrary: agentLike },
);

const allowlistEntry = fc.oneof(
  { weight: 3, arbitrary: placeholder('handle') },
  { weight: 1, arbitrary: placeholder('owner').map((owner) => `${owner}.*`) },
);

/** Values by field name, where the type is not enough. */
const valuesByField: Record<string, Arbitrary<string>> = {
  owner: fc.constant('{{own_owner:0}}'),
  agent_name: fc.constant('{{own_name:0}}'),
  thread_id: fc.oneof(
    { weight: 9, arbitrary: placeholder('thread') },
    { weight: 1, arbitrary: placeholder('any_thread') },
  ),
  reply_to: placeholder('message'),
  message_id: placeholder('message'),
  with_handle: agentLike,
  participants: agentLike,
  handle: agentLike,
  agent_ref: agentLike,
  member_ref: agentLike,
  request_ref: fc.oneof(
    { weight: 3, arbitrary: placeholder('request') },
    { weight: 1, arbitrary: agentLike },
  ),
  entry: allowlistEntry,
  entries: allowlistEntry,
  name: fc.constant('{{fresh:0}}'),
  organization: fc.constant('{{organization:0}}'),
  cursor: placeholder('cursor'),
  attachment_id: placeholder('upload'),
  attachment_ids: placeholder('upload'),
  counterpart: agentLike,
  from: agentLike,
  // No server listens there, so the connection fails immediately.
  url: fc.constant('https://127.0.0.1:1/{{fresh:0}}'),
  approval_id: placeholder('approval'),
  webhook_id: placeholder('webhook'),
  delivery_id: placeholder('delivery'),
  lease_id: placeholder('lease'),
  item_id: placeholder('dead_item'),
  task_id: placeholder('given_task', 'own_task'),
  of: agentLike,
};

/** A message of a batch; one in four replies to a message that may be of another thread, or names a key. */
const batchedMessage: Arbitrary<JsonText> = fc
  .tuple(
    text({ minLength: 1, maxLength: 40 }).map(json),
    fc.option(placeholder('message').map(json), { freq: 3 }),
    fc.option(fc.constantFrom('one', 'two').map(json), { freq: 3 }),
  )
  .map(([content, reply_to, key]) => {
    const fields = { content, reply_to, idempotency_key: key };
    const present = Object.entries(fields).filter(([, value]) => value !== null);
    return `{${present.map(([name, value]) => `${json(name)}:${value}`).join(',')}}`;
  });

/** Seconds. The default of `wait_seconds` is longer than all other requests of its batch. */
const waits = fc.oneof(
  { weight: 40, arbitrary: fc.constant('0') },
  { weight: 1, arbitrary: fc.constant('1') },
);

/** Fields with a different meaning in one operation. */
const valuesByOperation: Record<string, Record<string, Arbitrary<JsonText>>> = {
  update_agent: { agent_ref: placeholder('registered').map(json) },
  delete_agent: { agent_ref: placeholder('registered').map(json) },
  get_agent_profile: { owner: placeholder('owner').map(json) },
  get_card: { owner: placeholder('owner').map(json) },
  send_messages: {
    messages: fc.array(batchedMessage, { minLength: 1, maxLength: 4 }).map((items) => list(items)),
  },
  add_remote_agent: {
    card_url: fc.constant('https://127.0.0.1:1/').map(json),
    handle: placeholder('fresh').map(json),
    credential: fc.constantFrom('{"kind":"none"}', '{"kind":"bearer","token":"x"}'),
  },
  get_remote_agent: { agent_ref: placeholder('remote').map(json) },
  update_remote_agent: {
    agent_ref: placeholder('remote').map(json),
    credential: fc.constantFrom('{"kind":"none"}', '{"kind":"bearer","token":"x"}'),
  },
  remove_remote_agent: { agent_ref: placeholder('remote').map(json) },
  refresh_remote_agent: { agent_ref: placeholder('remote').map(json) },
  delete_webhook: { webhook_id: placeholder('made_webhook').map(json) },
  withdraw_contact_request: {
    request_ref: fc.oneof(placeholder('sent_request'), placeholder('request'), agentLike).map(json),
  },
  remove_contact: { agent_ref: contactLike.map(json) },
  add_favorite: { agent_ref: contactLike.map(json) },
  remove_favorite: { agent_ref: contactLike.map(json) },
  request_upload: {
    content_type: fc.constantFrom('text/plain', 'image/png').map(json),
    size: fc.integer({ min: 1, max: 10_485_760 }).map(json),
  },
  list_events: { wait: waits },
  update_task: { task_id: placeholder('given_task').map(json) },
  cancel_task: { task_id: placeholder('own_task').map(json) },
  set_inbox: { from: fc.constantFrom('now', '{{cursor:0}}').map(json) },
  acknowledge_message: { reply: fc.oneof(fc.constant('"a reply"'), fc.constant('{"content":"a reply"}')) },
  acknowledge_messages: { ids: placeholder('lease').map((id) => list([json(id)])) },
};

/** Fields to omit most of the time, because they rarely fit the others. */
const rareFields = new Set([
  'lease_id',
  'of',
  'reply',
  'cursor',
  'reply_to',
  'organization',
  'scope',
  'attachment_ids',
  'participants',
]);

/** The probability of an optional field. */
export function presence(name: string): number {
  if (name === 'wait_seconds') return 1;
  return rareFields.has(name) ? 0.1 : 0.6;
}

/** Valid values of a field, by its schema and its name. */
export function validValue(operation: string, name: string, schema: Schema): Arbitrary<JsonText> {
  const own = valuesByOperation[operation.replace(/_as$/, '')]?.[name];
  if (own) return own;
  if (name === 'wait_seconds') return waits;
  const meant = valuesByField[name];
  if (meant && schema['type'] === 'array')
    return fc.array(meant.map(json), { minLength: 1, maxLength: 3 }).map(list);
  return meant && schema['type'] !== 'object' ? meant.map(json) : matchSchema(schema);
}

const list = (items: readonly JsonText[]): JsonText => `[${items.join(',')}]`;

function matchSchema(schema: Schema): Arbitrary<JsonText> {
  const { type, anyOf, oneOf, minimum = 0, maximum = 2_147_483_647, maxItems = 3 } = schema;
  const others = (anyOf ?? oneOf) as Schema[] | undefined;
  if (others) return fc.oneof(...others.map((other) => matchSchema(other)));
  if ('enum' in schema) return fc.constantFrom(...(schema['enum'] as unknown[])).map(json);
  if ('const' in schema) return fc.constant(json(schema['const']));
  if (type === 'string') return matchTextSchema(schema).map(json);
  if (type === 'integer') {
    const [min, max] = [Number(minimum), Number(maximum)];
    return fc.oneof(fc.integer({ min, max: Math.min(max, min + 5) }), fc.integer({ min, max })).map(json);
  }
  if (type === 'boolean') return fc.boolean().map(json);
  if (type === 'null') return fc.constant('null');
  if (type === 'array') {
    const item = matchSchema((schema['items'] ?? {}) as Schema);
    return fc.array(item, { maxLength: Math.min(3, Number(maxItems)) }).map(list);
  }
  if (type === 'object' && schema['properties']) return matchObjectSchema(schema);
  if (type === 'object')
    return fc
      .dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
      .map(json);
  return fc.jsonValue({ maxDepth: 1 }).map(json);
}

function matchTextSchema({ pattern, minLength = 0, maxLength = 60 }: Schema): Arbitrary<string> {
  if (typeof pattern === 'string')
    return fc.stringMatching(new RegExp(pattern)).map((value) => value.slice(0, Number(maxLength)));
  const [least, most] = [Number(minLength), Number(maxLength)];
  return fc.oneof(
    { weight: 8, arbitrary: text({ minLength: least, maxLength: Math.max(least, Math.min(most, 40)) }) },
    { weight: 1, arbitrary: fc.constant('x'.repeat(Math.min(most, 1_000))) },
  );
}

function matchObjectSchema({ properties, required = [] }: Schema): Arbitrary<JsonText> {
  const fields = Object.entries(properties as Record<string, Schema>).map(([key, schema]) => {
    const field = matchSchema(schema).map((value) => `${json(key)}:${value}`);
    return (required as string[]).includes(key) || presence(key) > 0.5 ? field : fc.option(field);
  });
  return fc.tuple(...fields).map((created) => `{${created.filter((field) => field !== null).join(',')}}`);
}

const nestJson = (open: string, close: string, depth: number): JsonText =>
  open.repeat(depth) + close.repeat(depth);

/** Values that hardly any field accepts. */
export const hostileValue: Arbitrary<JsonText> = fc.oneof(
  fc.constantFrom<JsonText>(...hostileJson),
  fc.constantFrom(10, 201, 1_001, 33_000).map((length) => json('é'.repeat(length))),
  fc.constantFrom(65, 256, 5_000, 70_000).map((length) => json('x'.repeat(length))),
  fc.constantFrom(6, 21, 256, 5_000).map((length) => list(Array.from({ length }, () => '"x"'))),
  fc.constantFrom(10, 500, 5_000).map((depth) => nestJson('[', ']', depth)),
  fc.constantFrom(10, 500, 5_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.string({ unit: 'binary', maxLength: 300 }).map(json),
  fc.jsonValue({ maxDepth: 3 }).map(json),
  fc.double().map((value) => json(value)),
  fc.maxSafeInteger().map(json),
);

/** Names that no operation has, or that are special in JavaScript. */
export const hostileName: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: 'binary', maxLength: 30 }),
);

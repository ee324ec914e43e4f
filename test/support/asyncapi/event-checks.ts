import { Ajv } from 'ajv';
import { findByPointer, resolveReference, type Schema } from '../openapi/document.ts';
import { type SchemaCheck, forbidUnknownFields, createSchemaChecks } from '../openapi/schema-checks.ts';
import type { AsyncApiDocument, MessageObject } from './document.ts';

/** A channel of the document: a transport of events. */
export type EventTransport = 'websocket' | 'mcp_notifications' | 'long_poll' | 'webhooks';

export interface EventChecks {
  /**
   * Checks a sent event against the document.
   * @returns the name of the message that it is.
   * @throws {Error} that says what is not as described.
   */
  checkSent(transport: EventTransport, value: unknown): string;
}

/** Objects have no fields but those that the document names: see `closed`. */
export function createEventChecks(document: AsyncApiDocument): EventChecks {
  const strict = {
    ...document,
    channels: forbidUnknownFields(document.channels),
    components: forbidUnknownFields(document.components),
  };
  const compile = createSchemaChecks(strict, Ajv);
  const compiled = new Map<string, SchemaCheck>();
  const pointers = new Map<string, string>();
  for (const { action, messages } of Object.values(document.operations)) {
    if (action === 'receive') continue;
    for (const { $ref } of messages) {
      const transport = $ref.split('/')[2] ?? '';
      const message = findByPointer(document, $ref) as MessageObject;
      const payload = resolveReference<Schema>(document, message.payload);
      pointers.set(`${transport} ${readEventType(readConstants(payload))}`, $ref);
    }
  }

  return {
    checkSent(transport, value) {
      const kind = readEventType(value);
      const pointer = pointers.get(`${transport} ${kind}`);
      const why = pointer ? faultOf(pointer, value) : 'the document knows no such message here';
      if (why === null && pointer) return pointer.split('/').at(-1)?.replaceAll('~1', '/') ?? '';
      const what = `${transport} sent ${kind}, not as the AsyncAPI document describes it:`;
      throw new Error([what, `- ${why}`, JSON.stringify(value).slice(0, 1_000)].join('\n'));
    },
  };

  function faultOf(pointer: string, value: unknown): string | null {
    const check = compiled.get(pointer) ?? compile(`${pointer}/payload`);
    compiled.set(pointer, check);
    return check(value);
  }
}

/** What distinguishes the messages of a transport: the type or the method. A page has neither. */
function readEventType(value: unknown): string {
  const { type, method } = Object(value) as { type?: unknown; method?: unknown };
  const kind = type ?? method ?? 'page';
  return typeof kind === 'string' ? kind : JSON.stringify(kind);
}

/** The fields whose value the schema lays down. */
function readConstants({ properties }: Schema): Record<string, unknown> {
  const fields = Object.entries((properties ?? {}) as Record<string, { const?: unknown }>);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => ('const' in field ? [[name, field.const]] : [])),
  );
}

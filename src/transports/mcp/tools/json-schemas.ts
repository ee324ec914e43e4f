import { z } from 'zod';
import {
  idempotencyKeyPattern,
  metadata,
  metadataFields,
} from '../../../../packages/core/src/inputs/fields.ts';
import { cachePerObject } from '../../../shared/cache-per-object.ts';
import { outlineOf, type Schema } from './outline-schema.ts';

/** A JSON Schema of an object (MCP, Tools). */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, object>;
  [keyword: string]: unknown;
}

const idempotencyKey = {
  type: 'string',
  pattern: idempotencyKeyPattern.source,
  description: 'For retries.',
};

/** Set if long texts were cut; see `preview`. */
const truncationFields = { truncated: { type: 'boolean' }, read_the_rest: { type: 'string' } };

/** The feed status of the agent. */
const feedFields = {
  cursor: { type: 'string' },
  pending_events: { type: 'integer' },
  pending_events_more: { type: 'boolean' },
};

/** What a tool accepts. Writing tools also take an idempotency key. */
export function acceptedSchema(input: z.ZodType, isWrite: boolean): ObjectSchema {
  const schema = inputObject(input);
  return {
    ...schema,
    properties: { ...schema.properties, ...(isWrite && { idempotency_key: idempotencyKey }) },
  };
}

/**
 * The published input schema of a tool: flat and typed. Models and strict clients handle neither alternatives nor null well, so an argument
 * with several forms is published in its simplest one; the others are still accepted. Ranges, lengths, patterns and unknown fields are left
 * to the service, which says what is wrong with them; descriptions name the ranges.
 */
export function inputSchema(
  input: z.ZodType,
  isWrite: boolean,
  unpublished: readonly string[] = [],
): ObjectSchema {
  const schema = acceptedSchema(input, isWrite);
  const { additionalProperties: _closed, properties, ...open } = schema;
  const published = Object.entries(properties).filter(([name]) => !unpublished.includes(name));
  return {
    ...open,
    properties: mapValues(Object.fromEntries(published) as Record<string, Argument>, publish),
  };
}

/** An argument as far as it is published. */
interface Argument {
  type?: string;
  anyOf?: Argument[];
  items?: Argument;
  properties?: Record<string, Argument>;
  [keyword: string]: unknown;
}

const unpublishedKeywords = new Set([
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'additionalProperties',
]);

function isPublished([keyword, value]: [string, unknown]): boolean {
  const saysNothing = keyword === 'default' && (typeof value === 'object' || value === '');
  return !unpublishedKeywords.has(keyword) && !saysNothing;
}

/** Without alternatives, ranges, lengths and patterns. Every object has `properties`, because strict clients close objects, and refuse one without. */
function publish(argument: Argument): Argument {
  const { anyOf = [], ...rest } = argument;
  const simplest =
    anyOf.find(({ type }) => type === 'string') ?? anyOf.find(({ type }) => type !== 'null') ?? {};
  const { items, properties, ...flat } = { ...simplest, ...rest };
  return {
    // A value of any kind is published as JSON text: strict clients need a type.
    ...(flat.type === undefined && { type: 'string' }),
    ...Object.fromEntries(Object.entries(flat).filter(isPublished)),
    ...(items && { items: publish({ ...items, description: undefined }) }),
    ...(flat.type === 'object' && { properties: mapValues(properties ?? {}, publish) }),
  };
}

function mapValues<T>(record: Record<string, T>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/**
 * The output schema of a tool, in outline. It names every field of the results, and allows additional ones, so that later versions can add
 * some.
 * @param options.mayBeCut whether a result can be so long that its texts are cut.
 */
export function outputSchema(
  output: z.ZodType,
  { showsFeed, mayBeCut }: { showsFeed: boolean; mayBeCut: boolean },
): ObjectSchema {
  const schema = outputObject(output);
  const properties = {
    ...(showsFeed && feedFields),
    ...schema.properties,
    ...(mayBeCut && hasLongTexts(schema) && truncationFields),
  };
  return { type: 'object', properties: outlineOf(properties as Record<string, Schema>) };
}

/** Whether an output has messages or what other agents define: all other texts are short. */
function hasLongTexts({ properties }: ObjectSchema): boolean {
  return /"(?:content|metadata|data)":/.test(JSON.stringify(properties));
}

/** The full schema of an object that the service returns. */
export function resultSchema(output: z.ZodType): ObjectSchema {
  return outputObject(output);
}

// A tool needs its schema several times, and the conversion is most of the start of the transport.
const inputObject = cachePerObject((type: z.ZodType) => objectSchema(type, 'input'));
const outputObject = cachePerObject((type: z.ZodType) => objectSchema(type, 'output'));

/**
 * A schema without references, because many models do not resolve them, and without keywords that say nothing: MCP's default dialect, keys
 * that are strings, values of any kind.
 */
function objectSchema(type: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const {
    $defs,
    $schema: _dialect,
    ...root
  } = z.toJSONSchema(type, {
    io,
    override({ zodSchema, jsonSchema }) {
      // A client that closes objects can set these fields at least.
      if (zodSchema === metadata) jsonSchema.properties = { ...metadataFields };
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (isEmptySchema(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      delete jsonSchema.propertyNames;
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
    },
  });
  const schema = inlineReferences(root, $defs ?? {}, []);
  if (!isObjectSchema(schema)) throw new Error('tool input and output must be objects');
  return schema;
}

function isObjectSchema(value: unknown): value is ObjectSchema {
  return isRecord(value) && value['type'] === 'object' && isRecord(value['properties']);
}

function isEmptySchema(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inlineReferences(
  node: unknown,
  definitions: Record<string, unknown>,
  path: readonly string[],
): unknown {
  if (Array.isArray(node)) return node.map((child) => inlineReferences(child, definitions, path));
  if (!isRecord(node)) return node;
  const { $ref, ...rest } = node;
  const own = Object.fromEntries(
    Object.entries(rest).map(([key, child]) => [key, inlineReferences(child, definitions, path)]),
  );
  if (typeof $ref !== 'string') return own;
  const name = $ref.replace('#/$defs/', '');
  if (path.includes(name)) throw new Error(`the schema ${name} is recursive; tools cannot use it`);
  return { ...asRecord(inlineReferences(definitions[name], definitions, [...path, name])), ...own };
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

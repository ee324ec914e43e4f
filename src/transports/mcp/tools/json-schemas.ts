import { z } from 'zod';
import { idempotencyKeyPattern } from '../../../operations/fields.ts';

/** A JSON Schema of an object (MCP, Tools). */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, object>;
  [keyword: string]: unknown;
}

const idempotencyKey = {
  type: 'string',
  pattern: idempotencyKeyPattern.source,
  description:
    'A unique key for this call, such as a UUID. Repeat the key when you retry the call, so that it takes effect once.',
};

const truncationFields = {
  truncated: {
    type: 'boolean',
    description: 'True if long texts were cut; set on the result and on each object that has a cut text.',
  },
  read_the_rest: { type: 'string', description: 'If truncated: how to get the full text.' },
};

/** The input schema of a tool. Writing tools also take an idempotency key. */
export function inputSchema(input: z.ZodType, isWrite: boolean): ObjectSchema {
  const schema = objectSchema(input, 'input');
  if (isWrite) schema.properties['idempotency_key'] = idempotencyKey;
  return schema;
}

/** The output schema of a tool. It allows additional fields, so that later versions can add some. */
export function outputSchema(output: z.ZodType): ObjectSchema {
  const schema = objectSchema(output, 'output');
  Object.assign(schema.properties, truncationFields);
  return schema;
}

/** A schema without references, because many models do not resolve them. */
function objectSchema(type: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const { $defs, ...root } = z.toJSONSchema(type, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
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

import { z } from 'zod';
import { idempotencyKeyPattern } from '../../../operations/fields.ts';

/** A JSON Schema of an object, as tools declare it (MCP, Tools). */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, object>;
  [keyword: string]: unknown;
}

const idempotencyKey = {
  type: 'string',
  pattern: idempotencyKeyPattern.source,
  description:
    'A unique text of your own, for example a UUID. Repeat it when you repeat a call: then it has its effect once.',
};

const truncationFields = {
  truncated: { type: 'boolean', description: 'True when long text was cut; so is the object that held it.' },
  read_the_rest: { type: 'string', description: 'With truncated: how to get the whole text.' },
};

/** The input of a tool. Tools that write take an idempotency key beside it. */
export function inputSchema(input: z.ZodType, writes: boolean): ObjectSchema {
  const schema = objectSchema(input, 'input');
  if (writes) schema.properties['idempotency_key'] = idempotencyKey;
  return schema;
}

/** The output of a tool, open to additions: clients must not refuse what a later version adds. */
export function outputSchema(output: z.ZodType): ObjectSchema {
  const schema = objectSchema(output, 'output');
  Object.assign(schema.properties, truncationFields);
  return schema;
}

/** Without references: many clients hand schemas to models that do not follow them. */
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
  if (!isObjectSchema(schema)) throw new Error('the input and output of a tool must be objects');
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
  within: readonly string[],
): unknown {
  if (Array.isArray(node)) return node.map((child) => inlineReferences(child, definitions, within));
  if (!isRecord(node)) return node;
  const { $ref, ...rest } = node;
  const own = Object.fromEntries(
    Object.entries(rest).map(([key, child]) => [key, inlineReferences(child, definitions, within)]),
  );
  if (typeof $ref !== 'string') return own;
  const name = $ref.replace('#/$defs/', '');
  if (within.includes(name)) throw new Error(`the schema ${name} contains itself; tools cannot show it`);
  return { ...asRecord(inlineReferences(definitions[name], definitions, [...within, name])), ...own };
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
